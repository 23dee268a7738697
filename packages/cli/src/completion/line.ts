/** Words of an incomplete POSIX shell command line. */
export interface SplitLine {
  readonly words: readonly string[]
  /** Open quote of the last word. */
  readonly quote: '' | "'" | '"'
}

/** Splits the text before the cursor into words; the last one may be empty. */
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
