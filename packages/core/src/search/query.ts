import { isGeneralVerb } from './language/actions.ts'
import { stem } from './language/stemmer.ts'
import { isStopWord } from './language/stopwords.ts'
import { eachWord, fold, type Reading, termsOf } from './language/tokenizer.ts'
import { domainName, valueHints } from './language/value-hints.ts'

/** Query as clauses: a request in several steps needs a tool for each. */
export interface ParsedQuery {
  readonly clauses: readonly (readonly QueryTerm[])[]
  /** The text of each clause. */
  readonly texts: readonly string[]
  /** The query, if short enough to be a tool name: as written, and as a key. */
  readonly whole?: { readonly written: string; readonly key: string }
  /** Keys of possible tool names in the query. */
  readonly names: readonly string[]
}

export interface QueryTerm {
  readonly term: string
  /** Lower-case original. */
  readonly word: string
  readonly weight: number
  /** `hint`: derived from the query, or part of a value, and not reported as unmatched. */
  readonly kind: 'word' | 'hint'
  /** False for names and values. */
  readonly mayBeMisspelt: boolean
}

const maxQueryLength = 4_096
const maxClauses = 12
const maxTerms = 200
/** Longer than any name with its server prefix. */
export const maxNameLength = 256

/** Quoted words, numbers and parts of domain names are mostly argument values. */
const valueWeight = 0.5
/** The object of a request says more than its verb: "show" alone finds too much. */
const verbWeight = 0.7
const pairWeight = 0.5
const hintWeight = 0.3

/** Parses any query in bounded time. `read` returns the terms of a word. */
export function parseQuery(query: string, read: typeof termsOf = termsOf): ParsedQuery {
  const text = fold(query.slice(0, maxQueryLength)).replaceAll(/[^\S\n]+/gu, ' ')
  const prose = clausesOf(text, 'prose', read)
  // A query of stop words only ("who", "help") may still be a name.
  const clauses = prose.length > 0 ? prose : clausesOf(text, 'name', read)
  return {
    clauses: clauses.map(({ terms }) => terms),
    texts: clauses.map((clause) => clause.text),
    names: namesIn(text),
    ...(query.length <= maxNameLength && { whole: { written: query.trim(), key: keyOf(text) } }),
  }
}

/** Normalizes a name: "create_issue", "createIssue" and "Create issue" have the same key. */
export function keyOf(text: string): string {
  return fold(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

/** Snake case, dotted or camel case. Anchored at the start of a word to keep matching linear. */
const nameLike = /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}]+(?:[_.:/-]+[\p{L}\p{N}]+)+|\p{Ll}+\p{Lu}[\p{L}\p{N}]*)/gu

/** What each of these names has: skips the search, which is slow, for most requests. */
const namePart = /[_.:/-]|\p{Ll}\p{Lu}/u

function namesIn(text: string): readonly string[] {
  if (!namePart.test(text)) return []
  const found = text.match(nameLike) ?? []
  return [...new Set(found.slice(0, maxTerms).map(keyOf))]
}

/** Separator between the steps of a request. */
const nextStep = /[.!?;](?=\s|$)|[\n。！？；]+|,? (?:and )?(?:then|also|finally|afterwards|additionally)\b|然后|接着|最后/iu

interface Clause {
  readonly text: string
  readonly terms: readonly QueryTerm[]
}

function clausesOf(text: string, reading: Reading, read: typeof termsOf): readonly Clause[] {
  const clauses: Clause[] = []
  let count = 0
  const steps = text.split(nextStep)
  for (const [index, step] of steps.entries()) {
    const isLast = clauses.length === maxClauses - 1
    const part = isLast ? steps.slice(index).join(' ') : step
    const terms = termsInClause(part, reading, read).slice(0, maxTerms - count)
    if (terms.length > 0) clauses.push({ text: part, terms })
    count += terms.length
    if (isLast) break
  }
  return clauses
}

function termsInClause(clause: string, reading: Reading, read: typeof termsOf): readonly QueryTerm[] {
  const queryTerm = new Map<string, QueryTerm>()
  const add = (one: QueryTerm): void => {
    if (!queryTerm.has(one.term)) queryTerm.set(one.term, one)
  }
  const quoted = spansOf(quotes, clause)
  const domains = spansOf(domainNames, clause)
  let neighbour: { word: string; end: number } | undefined
  eachWord(clause, (written, start) => {
    const word = written.toLowerCase()
    const isQuoted = isInside(quoted, start)
    const isHost = isInside(domains, start)
    const isName = start > 0 && /^\p{Lu}/u.test(written)
    for (const term of queryTerms(written, reading, read)) {
      add({
        term,
        word,
        weight: isQuoted || isHost || /^\d+$/.test(term) ? valueWeight : isGeneralVerb(term) ? verbWeight : 1,
        kind: isHost ? 'hint' : 'word',
        mayBeMisspelt: !isQuoted && !isHost && !isName,
      })
    }
    const isPart = /^\p{L}+$/u.test(word) && !isStopWord(word)
    // "Git hub" may mean "GitHub".
    if (isPart && neighbour !== undefined && clause.slice(neighbour.end, start) === ' ') {
      const pair = neighbour.word + word
      add({ term: stem(pair), word: pair, weight: pairWeight, kind: 'hint', mayBeMisspelt: false })
    }
    neighbour = isPart ? { word, end: start + written.length } : undefined
  })
  for (const term of valueHints(clause)) add({ term, word: term, weight: hintWeight, kind: 'hint', mayBeMisspelt: false })
  return [...queryTerm.values()]
}

function queryTerms(written: string, reading: Reading, read: typeof termsOf): readonly string[] {
  // Short numbers are amounts; longer ones and single capitals may be names: "12306", "X".
  if (/^(?:\d{3,6}|[B-HJ-Z])$/.test(written)) return [written.toLowerCase()]
  return read(written, reading)
}

const quotes = /["“][^"“”]{1,80}["”]|(?<![\p{L}\p{N}])'[^'\n]{1,80}'(?![\p{L}\p{N}])/gu
const domainNames = new RegExp(domainName, 'gu')

interface Span {
  readonly from: number
  readonly to: number
}

const isInside = (spans: readonly Span[], at: number): boolean => spans.some(({ from, to }) => at >= from && at < to)

function spansOf(pattern: RegExp, text: string): readonly Span[] {
  if (!/["“'.]/u.test(text)) return []
  return Array.from(text.matchAll(pattern), ({ 0: { length }, index }) => ({ from: index, to: index + length }))
}
