import { Failure, fuse, type SearchMatch, type SearchResult, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import { errorMessage, type Reporter } from '../tool/report.ts'
import type { Embedder } from './embedder.ts'
import type { Fallback } from './fallback.ts'
import { Habits } from './habits.ts'
import { Meanings } from './meanings.ts'
import { standingOut } from './nearness.ts'
import type { Searcher } from './searcher.ts'
import type { Match, Rank, SearchChoice, SearchSettings } from './settings.ts'
import { Late, within } from './time-limit.ts'
import { type Found, type IndexQuery, idOf } from './tool-index.ts'

export interface FinderOptions {
  readonly settings: SearchChoice
  readonly now: () => number
  readonly report: Reporter
}

export interface FindRequest {
  readonly scope: Searcher
  readonly query: string
  /** What the reader may know of and asked about; nothing else has any influence. */
  readonly among: readonly ToolEntry[]
  readonly limit: number
  readonly signal?: AbortSignal | undefined
  readonly byWords: (options: Omit<IndexQuery, 'allowed'>) => Found
}

const defaultDeadlineMs = 300
// More than these at a time are left over from settings that are not in use any more.
const mostEmbedders = 32
/** How many matches are looked at when words do not have the last say. */
const considered = 50
/** Of the places of an answer, those that one source may take while others have something comparable. */
const sourceShare = 0.6

/** Finds tools by their words and, where the toolbox says so, by meaning, by habit, and in an order of the author's. */
export class Finder {
  readonly #options: FinderOptions
  readonly #meanings = new Map<Embedder, Meanings>()
  readonly #habits: Habits
  readonly #failing = new WeakSet<Rank>()

  constructor(options: FinderOptions) {
    this.#options = options
    this.#habits = new Habits(options.now)
  }

  async find(request: FindRequest): Promise<Found> {
    const { scope, query, limit, byWords } = request
    const { settings } = this.#options
    const how = typeof settings === 'function' ? settings(scope.settings.principal) : settings
    const habits = how.learn === true ? this.#habits : undefined
    const boost = habits?.boost(scope, query)
    const perSource = Math.ceil(sourceShare * limit)
    const isFinal = how.embedder === undefined && how.rank === undefined
    const words = byWords({
      ...(isFinal ? { limit } : { limit: Math.max(limit, considered), perSource }),
      ...(boost !== undefined && { boost }),
    })
    const meant = await this.#withMeaning(words, request, { how, boost })
    const ranked = await this.#inRank(meant, request, how)
    const found = { ...ranked, matches: ranked.matches.slice(0, limit) }
    if (found.confidence !== 'none')
      habits?.searched(
        scope,
        query,
        found.matches.map(({ entry }) => idOf(entry)),
      )
    return found
  }

  /** A tool was called. */
  called(scope: Searcher, entry: ToolEntry): void {
    this.#habits.called(scope, idOf(entry))
  }

  /** Ends what is under way. */
  close(): void {
    for (const meanings of this.#meanings.values()) meanings.close()
  }

  #meaningsOf(embedder: Embedder): Meanings {
    const { now, report } = this.#options
    const meanings = this.#meanings.get(embedder) ?? new Meanings({ embedder, now, report })
    // Taken out and put back, the one that was used least lately comes first.
    this.#meanings.delete(embedder)
    this.#meanings.set(embedder, meanings)
    const [oldest] = this.#meanings
    if (this.#meanings.size > mostEmbedders && oldest !== undefined) {
      this.#meanings.delete(oldest[0])
      oldest[1].close()
    }
    return meanings
  }

  async #withMeaning(
    words: Found,
    { query, among, limit, signal }: FindRequest,
    { how, boost }: { readonly how: SearchSettings; readonly boost: ((id: string) => number) | undefined },
  ): Promise<Found> {
    const { embedder, deadlineMs = defaultDeadlineMs } = how
    if (embedder === undefined) return words
    const entries = new Map(among.map((entry) => [idOf(entry), entry]))
    const tools = new Map<string, Tool>(among.map((entry) => [idOf(entry), entry.tool]))
    const nearness = await this.#meaningsOf(embedder).near(query, tools, { deadlineMs, signal })
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

  async #inRank(
    found: Found,
    { scope, query, signal }: FindRequest,
    { rank, deadlineMs = defaultDeadlineMs }: SearchSettings,
  ): Promise<Found> {
    if (rank === undefined || found.confidence === 'none' || found.matches.length === 0) return found
    const byName = new Map(found.matches.map((match) => [match.entry.tool.name, match]))
    const matches: readonly Match[] = found.matches.map(({ entry: { tool }, score, isNamed }) => ({ tool, score, isNamed }))
    const { principal } = scope.settings
    try {
      const ranked = await within(deadlineMs, signal, async (over) => rank(query, matches, { principal, signal: over }))
      const names = new Set(ranked.map(({ tool }) => tool.name))
      this.#failing.delete(rank)
      return { ...found, matches: [...names].flatMap((name) => byName.get(name) ?? []) }
    } catch (error) {
      const fallback: Fallback = error instanceof Late ? 'rank_late' : 'rank_failed'
      if (signal?.aborted !== true) this.#rankFailed(rank, error)
      return { ...found, fallback: found.fallback ?? fallback }
    }
  }

  /** Once for each time that it stops working. */
  #rankFailed(rank: Rank, error: unknown): void {
    if (this.#failing.has(rank)) return
    this.#failing.add(rank)
    const problem = errorMessage(error) || 'It failed without a message.'
    const { reason, message } = new Failure('search_degraded', `Search answers without \`rank\`. ${problem}`, { problem })
    this.#options.report({ reason, message, error })
  }
}

const asAnswer = ({ matches, total, confidence, unmatched }: Found): SearchResult => ({
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
