import { stem } from './language/stemmer.ts'
import { isStopWord } from './language/stopwords.ts'
import { eachWord, folded, type Reading, termsOf } from './language/tokenizer.ts'
import { hintsOf } from './language/values.ts'

/** What a query asks for, clause by clause: a request in several steps wants a tool for each. */
export interface Question {
  readonly clauses: readonly (readonly Asked[])[]
  /** The whole query, when it is short enough to be a tool's name: as it was written and as a key. */
  readonly whole?: { readonly written: string; readonly key: string }
  /** Keys of what looks like a tool's name inside the query. */
  readonly names: readonly string[]
}

/** One thing to look for. */
export interface Asked {
  readonly term: string
  /** As it was written, in lower case. */
  readonly word: string
  readonly weight: number
  /** A word was written; a hint follows from what was written and is missed by nobody. */
  readonly kind: 'word' | 'hint'
  /** Names and values are spelt as their owners like. */
  readonly mayBeMisspelt: boolean
}

const longestQuery = 4_096
const mostClauses = 12
const mostTerms = 200
/** Longer than any name, also after a server's. */
export const longestName = 256

/** Words between quotation marks are mostly values for the tool, not what the tool is about. */
const quotedWeight = 0.5
const pairWeight = 0.5
const hintWeight = 0.3

/** Reads a query of any length and content in bounded time. */
export function questionOf(query: string): Question {
  const text = folded(query.slice(0, longestQuery)).replaceAll(/[^\S\n]+/gu, ' ')
  const asked = clausesOf(text, 'prose')
  // A query of small words alone ("who", "help") may still be a name.
  const clauses = asked.length > 0 ? asked : clausesOf(text, 'name')
  return {
    clauses,
    names: namesIn(text),
    ...(query.length <= longestName && { whole: { written: query.trim(), key: keyOf(text) } }),
  }
}

/** A name without its separators and case: "create_issue", "createIssue" and "Create issue" are one. */
export function keyOf(text: string): string {
  return folded(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

/** Parts with separators, or a hump. Begins only where a word begins, or a long word would be tried from each of its letters. */
const nameLike = /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}]+(?:[_.:/-]+[\p{L}\p{N}]+)+|\p{Ll}+\p{Lu}[\p{L}\p{N}]*)/gu

function namesIn(text: string): readonly string[] {
  const found = text.match(nameLike) ?? []
  return [...new Set(found.slice(0, mostTerms).map(keyOf))]
}

/** Where one step of a request ends and the next begins. */
const nextStep = /[.!?;](?=\s|$)|[\n。！？；]+|,? (?:and )?(?:then|also|finally|afterwards|additionally)\b|然后|接着|最后/iu

function clausesOf(text: string, reading: Reading): readonly (readonly Asked[])[] {
  const clauses: (readonly Asked[])[] = []
  let terms = 0
  const steps = text.split(nextStep)
  for (const [index, step] of steps.entries()) {
    const isLast = clauses.length === mostClauses - 1
    const asked = askedIn(isLast ? steps.slice(index).join(' ') : step, reading).slice(0, mostTerms - terms)
    if (asked.length > 0) clauses.push(asked)
    terms += asked.length
    if (isLast) break
  }
  return clauses
}

function askedIn(clause: string, reading: Reading): readonly Asked[] {
  const asked = new Map<string, Asked>()
  const add = (one: Asked): void => {
    if (!asked.has(one.term)) asked.set(one.term, one)
  }
  const quotes = quotesIn(clause)
  let neighbour: { word: string; end: number } | undefined
  eachWord(clause, (written, start) => {
    const word = written.toLowerCase()
    const isQuoted = quotes.some(({ from, to }) => start >= from && start < to)
    const isName = start > 0 && /^\p{Lu}/u.test(written)
    for (const term of queryTerms(written, reading)) {
      add({ term, word, weight: isQuoted ? quotedWeight : 1, kind: 'word', mayBeMisspelt: !isQuoted && !isName })
    }
    const isPart = /^\p{L}+$/u.test(word) && !isStopWord(word)
    // "Git hub" may be a tool's "GitHub"; whoever has no such word is not asked for it.
    if (isPart && neighbour !== undefined && clause.slice(neighbour.end, start) === ' ') {
      const pair = neighbour.word + word
      add({ term: stem(pair), word: pair, weight: pairWeight, kind: 'hint', mayBeMisspelt: false })
    }
    neighbour = isPart ? { word, end: start + written.length } : undefined
  })
  for (const term of hintsOf(clause)) add({ term, word: term, weight: hintWeight, kind: 'hint', mayBeMisspelt: false })
  return [...asked.values()]
}

function queryTerms(written: string, reading: Reading): readonly string[] {
  // Short numbers are amounts; a longer one, or a single capital, may be a name: "12306", "X".
  if (/^(?:\d{3,6}|[B-HJ-Z])$/.test(written)) return [written.toLowerCase()]
  return termsOf(written, reading)
}

function quotesIn(text: string): readonly { readonly from: number; readonly to: number }[] {
  return [...text.matchAll(/["“][^"“”]{1,80}["”]|(?<![\p{L}\p{N}])'[^'\n]{1,80}'(?![\p{L}\p{N}])/gu)].map(
    ({ 0: quote, index }) => ({
      from: index,
      to: index + quote.length,
    }),
  )
}
