import { ownName, type SearchDocument } from '../document.ts'
import { isStopWord } from '../language/stopwords.ts'
import { eachWord, fold } from '../language/tokenizer.ts'

/** Words of a text as the table has them, with their weights. */
export type WeightedWords = ReadonlyMap<string, number>

/** A repeated word counts at most twice. */
const maxRepeats = 2
const maxQueryWords = 60
const maxTextLength = 4_000

/** Stop words that say what a request is about: "who was", "how many", "share this with", "turn it off". */
const tellingWords: ReadonlySet<string> = new Set(
  'who whose where when why how which what much many out off up down like tell give share ask asking asked'.split(' '),
)

/** True for a word without meaning for a request. */
const isSilent = (word: string): boolean => isStopWord(word) && !tellingWords.has(word)

/** Parts of a tool that describe its meaning, with the weight and the number of words that count. */
const parts: readonly {
  readonly weight: number
  readonly limit: number
  readonly textOf: (document: SearchDocument) => string | undefined
}[] = [
  { weight: 1, limit: 20, textOf: (document) => `${ownName(document)} ${document.title ?? ''}` },
  {
    weight: 0.5,
    limit: 6,
    textOf: (document) =>
      document.server ?? document.group ?? (ownName(document) === document.name ? undefined : document.source),
  },
  { weight: 0.5, limit: 40, textOf: ({ description }) => description },
  { weight: 0.15, limit: 20, textOf: ({ parameters }) => parameters?.map(({ name }) => name).join(' ') },
]

/** Returns the words of a tool that `isKnown` accepts. */
export function wordsOfTool(document: SearchDocument, isKnown: (word: string) => boolean): WeightedWords {
  const words = new Map<string, number>()
  for (const { weight, limit, textOf } of parts) {
    const text = textOf(document)
    if (text === undefined) continue
    const add = counter(words, weight, limit)
    eachWord(fold(text.slice(0, maxTextLength)), (run) => {
      const whole = run.toLowerCase()
      // Most words have no parts.
      if (isSilent(whole)) return true
      if (isKnown(whole)) return whole.length < 2 || add(whole)
      for (const word of partsOf(run, isKnown)) if (isKnown(word) && !add(word)) return false
      return true
    })
  }
  return words
}

/** Words of a request. */
export interface QueryWords {
  readonly words: WeightedWords
  /** Share of the words that are known. Stop words and numbers count neither as known nor as unknown. */
  readonly knownShare: number
}

/** Returns the words of a request that `isKnown` accepts. Words that `isIgnored` accepts do not count, known or not. */
export function wordsOfQuery(
  query: string,
  isKnown: (word: string) => boolean,
  isIgnored: (word: string) => boolean = () => false,
): QueryWords {
  const words = new Map<string, number>()
  const known = new Set<string>()
  const unknown = new Set<string>()
  const add = counter(words, 1, maxQueryWords)
  eachWord(fold(query.slice(0, maxTextLength)), (run) => {
    for (const word of partsOf(run, isKnown)) {
      if (isIgnored(word) || isNumber(word)) continue
      const counted = isKnown(word) ? known : unknown
      if (!tellingWords.has(word)) counted.add(word)
      if (counted === known && !add(word)) return false
    }
    return true
  })
  return { words, knownShare: known.size === 0 ? 0 : known.size / (known.size + unknown.size) }
}

/** Returns a function that adds a word of a text, and returns whether there is room for another. */
function counter(words: Map<string, number>, weight: number, limit: number): (word: string) => boolean {
  const counts = new Map<string, number>()
  let length = 0
  return (word) => {
    const count = counts.get(word) ?? 0
    if (count < maxRepeats) {
      counts.set(word, count + 1)
      words.set(word, (words.get(word) ?? 0) + weight)
    }
    return ++length < limit
  }
}

/** Returns the words of a run of letters and digits, without stop words. */
function partsOf(run: string, isKnown: (word: string) => boolean): readonly string[] {
  const whole = run.toLowerCase()
  // "GitHub" is one word of the table; "createIssue" is two.
  const words = isKnown(whole) ? [whole] : (run.match(letters) ?? [whole]).map((part) => part.toLowerCase())
  return words.filter((word) => word.length >= 2 && !isSilent(word))
}

const isNumber = (word: string): boolean => /^\p{N}+$/u.test(word)

/** Words inside camel case and between digits. */
const letters = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu
