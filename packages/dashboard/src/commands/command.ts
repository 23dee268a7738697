/** Quotes a word for a POSIX shell, if it needs quotes. Control characters are escaped visibly. */
function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/u.test(word)) return word
  // A pasted command must not contain a line break or an escape sequence.
  if (/\p{Cc}/u.test(word)) return `$'${word.replaceAll(/[\p{Cc}'\\]/gu, ansiEscaped)}'`
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function ansiEscaped(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The command that does the same as an action of the page. */
export const unfold = (...words: readonly string[]): string => ['unfold', ...words].map(shellWord).join(' ')
