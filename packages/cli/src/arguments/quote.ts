const plain = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/u
const unseen = /[\p{C}\p{Zl}\p{Zp}]/u

/**
 * Words as one line that bash, zsh and ksh read back as the same words. Characters that cannot be seen are written out, so the
 * line is also safe to show. No word may hold a null character: no process can be given one.
 */
export function shellQuote(words: readonly string[]): string {
  return words.map(quoted).join(' ')
}

function quoted(word: string): string {
  if (plain.test(word)) return word
  if (!unseen.test(word)) return `'${word.replaceAll("'", String.raw`'\''`)}'`
  const written = word.replaceAll(/[\\'\p{C}\p{Zl}\p{Zp}]/gu, (char) =>
    char === '\\' || char === "'" ? `\\${char}` : bytesOf(char),
  )
  return `$'${written}'`
}

// Bytes and not code points: what \u means to a shell depends on the locale.
const bytesOf = (char: string): string =>
  Array.from(new TextEncoder().encode(char), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
