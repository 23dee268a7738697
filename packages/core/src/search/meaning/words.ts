import { ownName, type SearchDocument } from '../document.ts'
import { isStopWord } from '../language/stopwords.ts'
import { eachWord, fold } from '../language/tokenizer.ts'

/** Words of a text as the table has them, with their weights. */
export type WeightedWords = ReadonlyMap<string, number>

/** A repeated word counts at most twice. */
const maxRepeats = 2
const maxQueryWords = 60
const maxTextLength = 4_000

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
    if (text !== undefined) addWords(words, text, { weight, limit, isKnown })
  }
  return words
}

/** Words of a request. */
export interface QueryWords {
  readonly words: WeightedWords
  /** Share of the words that are known. */
  readonly knownShare: number
}

/** Returns the words of a request that `isKnown` accepts. */
export function wordsOfQuery(query: string, isKnown: (word: string) => boolean): QueryWords {
  const words = new Map<string, number>()
  const unknown = addWords(words, query, { weight: 1, limit: maxQueryWords, isKnown })
  return { words, knownShare: words.size === 0 ? 0 : words.size / (words.size + unknown) }
}

interface Reading {
  readonly weight: number
  readonly limit: number
  readonly isKnown: (word: string) => boolean
}

/** Adds the known words of a text; returns the number of unknown ones. */
function addWords(words: Map<string, number>, text: string, { weight, limit, isKnown }: Reading): number {
  const unknown = new Set<string>()
  const counts = new Map<string, number>()
  let length = 0
  const add = (word: string): void => {
    if (length >= limit || word.length < 2 || isStopWord(word)) return
    if (!isKnown(word)) {
      unknown.add(word)
      return
    }
    length++
    const count = counts.get(word) ?? 0
    if (count === maxRepeats) return
    counts.set(word, count + 1)
    words.set(word, (words.get(word) ?? 0) + weight)
  }
  eachWord(fold(text.slice(0, maxTextLength)), (run) => {
    const whole = run.toLowerCase()
    // "GitHub" is one word of the table; "createIssue" is two.
    if (isKnown(whole)) add(whole)
    else for (const part of run.match(letters) ?? [whole]) add(part.toLowerCase())
  })
  return unknown.size
}

/** Words inside camel case and between digits. */
const letters = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu
