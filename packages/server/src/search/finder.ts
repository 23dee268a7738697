import { Failure, fuse, type SearchAnswer, type SearchMatch, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from '../entry.ts'
import { type Reporter, wordsOf } from '../report.ts'
import type { Scope } from '../runtime/scope.ts'
import { type Found, idOf, type WordSearch } from '../runtime/tool-search.ts'
import type { Fallback } from './fallback.ts'
import { Habits } from './habits.ts'
import { Meanings } from './meanings.ts'
import { standingOut } from './nearness.ts'
import type { Match, Rank, SearchSettings } from './settings.ts'
import { Late, within } from './time-limit.ts'

interface Options {
  readonly settings: SearchSettings
  readonly now: () => number
  readonly report: Reporter
}

export interface FindRequest {
  readonly scope: Scope
  readonly query: string
  /** What the reader may know of and asked about; nothing else has any influence. */
  readonly among: readonly ToolEntry[]
  readonly limit: number
  readonly signal?: AbortSignal | undefined
  readonly byWords: (options: Omit<WordSearch, 'allowed'>) => Found
}

const defaultDeadlineMs = 300
/** How many matches are looked at when words do not have the last say. */
const considered = 50
/** Of the places of an answer, those that one source may take while others have something comparable. */
const sourceShare = 0.6

/** Finds tools by their words and, where the toolbox says so, by meaning, by habit, and in an order of the author's. */
export class Finder {
  readonly #rank: Rank | undefined
  readonly #deadlineMs: number
  readonly #report: Reporter
  readonly #meanings: Meanings | undefined
  readonly #habits: Habits | undefined
  #rankFails = false

  constructor({ settings, now, report }: Options) {
    const { embedder, deadlineMs = defaultDeadlineMs, rank, learn = false } = settings
    this.#rank = rank
    this.#deadlineMs = deadlineMs
    this.#report = report
    this.#meanings = embedder === undefined ? undefined : new Meanings({ embedder, deadlineMs, now, report })
    this.#habits = learn ? new Habits(now) : undefined
  }

  async find(request: FindRequest): Promise<Found> {
    const { scope, query, limit, byWords } = request
    const boost = this.#habits?.boost(scope, query)
    const perSource = Math.ceil(sourceShare * limit)
    const isFinal = this.#meanings === undefined && this.#rank === undefined
    const words = byWords({
      ...(isFinal ? { limit } : { limit: Math.max(limit, considered), perSource }),
      ...(boost !== undefined && { boost }),
    })
    const meant = await this.#withMeaning(words, request, boost)
    const ranked = await this.#inRank(meant, request)
    const found = { ...ranked, matches: ranked.matches.slice(0, limit) }
    if (found.confidence !== 'none')
      this.#habits?.searched(
        scope,
        query,
        found.matches.map(({ entry }) => idOf(entry)),
      )
    return found
  }

  /** A tool was called. */
  called(scope: Scope, entry: ToolEntry): void {
    this.#habits?.called(scope, idOf(entry))
  }

  /** Ends what is under way. */
  close(): void {
    this.#meanings?.close()
  }

  async #withMeaning(words: Found, { query, among, limit, signal }: FindRequest, boost?: (id: string) => number): Promise<Found> {
    if (this.#meanings === undefined) return words
    const entries = new Map(among.map((entry) => [idOf(entry), entry]))
    const tools = new Map<string, Tool>(among.map((entry) => [idOf(entry), entry.tool]))
    const nearness = await this.#meanings.near(query, tools, signal)
    if ('fallback' in nearness) return { ...words, fallback: nearness.fallback }
    const related = standingOut(nearness.near).slice(0, considered)
    if (related.length === 0) return words
    const isRelated = new Set(related.map(({ id }) => id))
    const literal = asAnswer(words)
    // Words that found nothing worth showing do not fill the list behind what fits by its meaning.
    const kept = words.confidence === 'none' ? literal.matches.filter(({ id }) => isRelated.has(id)) : literal.matches
    const known = new Set(kept.map(({ id }) => id))
    const semantic = nearness.near.filter(({ id }) => isRelated.has(id) || known.has(id))
    const fused = fuse({ ...literal, matches: kept }, semantic, considered + related.length)
    const raised = fused.matches.map((match) =>
      boost === undefined || known.has(match.id) ? match : { ...match, score: match.score * boost(match.id) },
    )
    // Among the tools that a query names, the words say which it means.
    const named = kept.filter(({ isNamed }) => isNamed)
    const others = raised.filter(({ isNamed }) => !isNamed).sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    const sourceOf = ({ id }: SearchMatch): string => entries.get(id)?.source ?? ''
    const ordered = [...named, ...withoutFlood(others, sourceOf, Math.ceil(sourceShare * limit))]
    return {
      ...words,
      confidence: fused.confidence,
      matches: ordered.flatMap(({ id, score, isNamed }) => {
        const entry = entries.get(id)
        return entry === undefined ? [] : [{ entry, score, isNamed }]
      }),
    }
  }

  async #inRank(found: Found, { scope, query, signal }: FindRequest): Promise<Found> {
    const rank = this.#rank
    if (rank === undefined || found.confidence === 'none' || found.matches.length === 0) return found
    const byName = new Map(found.matches.map((match) => [match.entry.tool.name, match]))
    const matches: readonly Match[] = found.matches.map(({ entry: { tool }, score, isNamed }) => ({ tool, score, isNamed }))
    const { principal } = scope.frame
    try {
      const ranked = await within(this.#deadlineMs, signal, async (over) => rank(query, matches, { principal, signal: over }))
      const names = new Set(ranked.map(({ tool }) => tool.name))
      this.#rankFails = false
      return { ...found, matches: [...names].flatMap((name) => byName.get(name) ?? []) }
    } catch (error) {
      const fallback: Fallback = error instanceof Late ? 'rank_late' : 'rank_failed'
      if (signal?.aborted !== true) this.#rankFailed(error)
      return { ...found, fallback: found.fallback ?? fallback }
    }
  }

  /** Once for each time that it stops working. */
  #rankFailed(error: unknown): void {
    if (this.#rankFails) return
    this.#rankFails = true
    const problem = wordsOf(error) || 'It failed without saying why.'
    const { reason, message } = new Failure('search_degraded', `Search answers without \`rank\`. ${problem}`, { problem })
    this.#report({ reason, message, error })
  }
}

const asAnswer = ({ matches, total, confidence, unmatched }: Found): SearchAnswer => ({
  matches: matches.map(({ entry, score, isNamed }) => ({ id: idOf(entry), score, isNamed })),
  total,
  confidence,
  unmatched,
})

/** Lets other sources in where one would take more than `perSource` places and they have half as good to offer. */
function withoutFlood(
  matches: readonly SearchMatch[],
  sourceOf: (match: SearchMatch) => string,
  perSource: number,
): readonly SearchMatch[] {
  const rest = [...matches]
  const shown: SearchMatch[] = []
  const taken = new Map<string, number>()
  const isFull = (match: SearchMatch): boolean => (taken.get(sourceOf(match)) ?? 0) >= perSource
  while (rest.length > 0) {
    const first = rest[0] as SearchMatch
    const other = isFull(first) ? rest.findIndex((each) => !isFull(each) && each.score >= 0.5 * first.score) : 0
    const [next] = rest.splice(Math.max(0, other), 1) as [SearchMatch]
    shown.push(next)
    taken.set(sourceOf(next), (taken.get(sourceOf(next)) ?? 0) + 1)
  }
  return shown
}
