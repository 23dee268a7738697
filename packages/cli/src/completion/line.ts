/** The last word of a line that is being typed in a POSIX shell, and the words before it, as the shell would understand them. */
export interface SplitLine {
  readonly words: readonly string[]
  /** The quote that the last word is still inside of. */
  readonly quote: '' | "'" | '"'
}

/** Splits what stands before the cursor into words. There is always a last word, which may be empty. */
export function splitLine(line: string): SplitLine {
  const words: string[] = []
  let word = ''
  let isWord = false
  let quote: SplitLine['quote'] = ''
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? ''
    if (quote !== '') {
      if (char === quote) quote = ''
      else if (char === '\\' && quote === '"' && '\\"$`'.includes(line[at + 1] ?? ' ')) word += line[++at] ?? ''
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      isWord = true
    } else if (char === ' ' || char === '\t' || char === '\n') {
      if (isWord) words.push(word)
      word = ''
      isWord = false
    } else {
      word += char === '\\' ? (line[++at] ?? '') : char
      isWord = true
    }
  }
  return { words: [...words, word], quote }
}
