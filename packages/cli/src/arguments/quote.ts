const plain = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/u
const unseen = /[\p{C}\p{Zl}\p{Zp}]/u

/**
 * Quotes words for bash, zsh and ksh. Invisible characters are escaped, so the line is safe to print. Words must not contain NUL.
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

// Bytes, because the meaning of \u in a shell depends on the locale.
const bytesOf = (char: string): string =>
  Array.from(new TextEncoder().encode(char), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
