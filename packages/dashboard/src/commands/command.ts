/** Quotes a word for a POSIX shell, if it needs quotes. Control characters are escaped visibly. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/u.test(word)) return word
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a pasted command must not contain a line break or an escape sequence
  if (/[\u0000-\u001f\u007f]/u.test(word)) return `$'${[...word].map(ansiEscaped).join('')}'`
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function ansiEscaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 32 || code === 127) return `\\x${code.toString(16).padStart(2, '0')}`
  return character === "'" || character === '\\' ? `\\${character}` : character
}

/** The command that does the same as an action of the page. */
export const unfold = (...words: readonly string[]): string => ['unfold', ...words].map(shellWord).join(' ')
