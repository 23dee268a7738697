import { type Catalog, Failure, fuse, type SearchMatch, similarPlaces, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import { errorMessage, type Reporter } from '../tool/report.ts'
import type { Embedder } from './embedder.ts'
import type { Fallback } from './fallback.ts'
import type { Searcher } from './searcher.ts'
import type { Match, Rank, SearchChoice, SearchSettings } from './settings.ts'
import { outliers } from './similarity.ts'
import { TimeoutError, withTimeout } from './timeout.ts'
import { ToolEmbeddings } from './tool-embeddings.ts'
import { idOf, ToolIndex, type ToolSearchResult } from './tool-index.ts'
import { UsageHistory } from './usage-history.ts'

interface ToolSearchOptions {
  readonly settings: SearchChoice
  readonly now: () => number
  readonly report: Reporter
}

interface SearchRequest {
  readonly catalog: Catalog<ToolEntry>
  /** All scopes share this catalogue; every other catalogue gets its own index. */
  readonly isShared: boolean
  readonly query: string
  /** Entries to search; no other entry influences the result. */
  readonly among: readonly ToolEntry[]
  readonly limit: number
  readonly signal?: AbortSignal | undefined
  /** Explains the scores. Such a search is not recorded: nobody will call what it finds. */
  readonly explain?: boolean
}

type Boost = (id: string) => number

const defaultDeadlineMs = 300
// Beyond these, embedders belong to settings that are no longer in use.
const maxEmbedders = 32
/** Number of keyword matches that an embedder or `rank` may reorder. */
const maxCandidates = 50
/** Share of a result that one source may take while others have comparable matches. */
const sourceShare = 0.4

/** Searches the tools of a toolbox: by keyword and, depending on the settings, by embedding, usage history and custom rank. */
export class ToolSearch {
  readonly #options: ToolSearchOptions
  readonly #sharedIndex = new ToolIndex()
  readonly #ownIndexes = new WeakMap<object, ToolIndex>()
  readonly #embeddings = new Map<Embedder, ToolEmbeddings>()
  readonly #history: UsageHistory
  readonly #failingRanks = new WeakSet<Rank>()

  constructor(options: ToolSearchOptions) {
    this.#options = options
    this.#history = new UsageHistory(options.now)
  }

  async search(scope: Searcher, request: SearchRequest): Promise<ToolSearchResult> {
    const { query, limit } = request
    const choice = this.#options.settings
    const settings = typeof choice === 'function' ? choice(scope.settings.principal) : choice
    const boost = settings.learn === true ? this.#history.boost(scope, query) : undefined
    const fused =
      settings.embedder === undefined
        ? this.#searchIndex(request, settings, boost, true)
        : await this.#searchWithEmbedder(settings.embedder, request, settings, boost)
    const ranked = await this.#rank(fused, scope, request, settings)
    const matches = ranked.matches.slice(0, limit)
    if (settings.learn === true && request.explain !== true && ranked.confidence !== 'none') {
      const ids = matches.map(({ entry }) => idOf(entry))
      this.#history.recordSearch(scope, query, ids)
    }
    return { ...ranked, matches }
  }

  /** Records a call, for search that learns from use. */
  recordCall(scope: Searcher, entry: ToolEntry): void {
    this.#history.recordCall(scope, idOf(entry))
  }

  close(): void {
    for (const embeddings of this.#embeddings.values()) embeddings.close()
  }

  #searchIndex(
    { catalog, isShared, query, among, limit, explain }: SearchRequest,
    { embedder, rank, minConfidence }: SearchSettings,
    boost: Boost | undefined,
    meaning: boolean,
  ): ToolSearchResult {
    // The index holds entries as declared; results hold them as this scope sees them.
    const visible = new Map(among.map((entry) => [entry.declared ?? entry, entry]))
    const index = this.#indexOf(catalog, isShared)
    const isFinal = embedder === undefined && rank === undefined
    const result = index.search(catalog, query, {
      ...(isFinal ? { limit } : { limit: Math.max(limit, maxCandidates), perSource: Math.ceil(sourceShare * limit) }),
      ...(boost !== undefined && { boost }),
      ...(minConfidence !== undefined && { minConfidence }),
      ...(explain === true && { explain }),
      meaning,
      allowed: (entry) => visible.has(entry),
    })
    return { ...result, matches: result.matches.map((match) => ({ ...match, entry: visible.get(match.entry) ?? match.entry })) }
  }

  #indexOf(catalog: object, isShared: boolean): ToolIndex {
    if (isShared) return this.#sharedIndex
    const index = this.#ownIndexes.get(catalog) ?? new ToolIndex()
    this.#ownIndexes.set(catalog, index)
    return index
  }

  #embeddingsOf(embedder: Embedder): ToolEmbeddings {
    const { now, report } = this.#options
    const embeddings = this.#embeddings.get(embedder) ?? new ToolEmbeddings({ embedder, now, report })
    // Re-inserting keeps the map in order of last use.
    this.#embeddings.delete(embedder)
    this.#embeddings.set(embedder, embeddings)
    const [oldest] = this.#embeddings
    if (this.#embeddings.size > maxEmbedders && oldest !== undefined) {
      this.#embeddings.delete(oldest[0])
      oldest[1].close()
    }
    return embeddings
  }

  /** Compares vectors of a real model, which knows more than the built-in table. Without them, the table is used. */
  async #searchWithEmbedder(
    embedder: Embedder,
    request: SearchRequest,
    settings: SearchSettings,
    boost: Boost | undefined,
  ): Promise<ToolSearchResult> {
    const { catalog, isShared, query, among, limit, signal } = request
    const { deadlineMs = defaultDeadlineMs } = settings
    const entries = new Map(among.map((entry) => [idOf(entry), entry]))
    const tools = new Map<string, Tool>(among.map((entry) => [idOf(entry), entry.tool]))
    const compared = await this.#embeddingsOf(embedder).compare(query, tools, { deadlineMs, signal })
    if ('fallback' in compared) return { ...this.#searchIndex(request, settings, boost, true), fallback: compared.fallback }
    const lexical = this.#searchIndex(request, settings, boost, false)
    const sourceOf = ({ id }: { readonly id: string }): string => entries.get(id)?.source ?? ''
    const related = outliers(compared.scores, sourceOf).slice(0, maxCandidates)
    if (related.length === 0) return lexical
    const isRelated = new Set(related.map(({ id }) => id))
    const keywordMatches = lexical.matches.map(({ entry, score, isNamed }) => ({ id: idOf(entry), score, isNamed }))
    // Weak keyword matches would only pad the list after the semantic ones.
    const kept = lexical.confidence === 'none' ? keywordMatches.filter(({ id }) => isRelated.has(id)) : keywordMatches
    const keptIds = new Set(kept.map(({ id }) => id))
    const semantic = compared.scores.filter(({ id }) => isRelated.has(id) || keptIds.has(id))
    const fused = fuse({ ...lexical, matches: kept }, semantic, maxCandidates + related.length)
    const boosted = fused.matches.map((match) =>
      boost === undefined || keptIds.has(match.id) ? match : { ...match, score: match.score * boost(match.id) },
    )
    // Tools that the query names keep their keyword order.
    const named = kept.filter(({ isNamed }) => isNamed)
    const others = boosted.filter(({ isNamed }) => !isNamed).sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    const limited = [...named, ...limitPerSource(others, sourceOf, Math.ceil(sourceShare * limit))]
    const index = this.#indexOf(catalog, isShared)
    const isCopy = (a: SearchMatch, b: SearchMatch): boolean => sourceOf(a) === sourceOf(b) && index.areSimilar(a.id, b.id)
    const ordered = new Set(among.map(({ source }) => source)).size > 1 ? limitCopies(limited, isCopy, limit) : limited
    return {
      ...lexical,
      confidence: fused.confidence,
      matches: ordered.flatMap(({ id, score, isNamed }) => {
        const entry = entries.get(id)
        return entry === undefined ? [] : [{ entry, score, isNamed }]
      }),
    }
  }

  async #rank(
    result: ToolSearchResult,
    { settings: { principal } }: Searcher,
    { query, signal: cancelled }: SearchRequest,
    { rank, deadlineMs = defaultDeadlineMs }: SearchSettings,
  ): Promise<ToolSearchResult> {
    if (rank === undefined || result.confidence === 'none' || result.matches.length === 0) return result
    const byName = new Map(result.matches.map((match) => [match.entry.tool.name, match]))
    const matches: readonly Match[] = result.matches.map(({ entry: { tool }, score, isNamed }) => ({ tool, score, isNamed }))
    try {
      const ranked = await withTimeout(deadlineMs, cancelled, async (signal) => rank(query, matches, { principal, signal }))
      const names = new Set(ranked.map(({ tool }) => tool.name))
      this.#failingRanks.delete(rank)
      return { ...result, matches: [...names].flatMap((name) => byName.get(name) ?? []) }
    } catch (error) {
      const fallback: Fallback = error instanceof TimeoutError ? 'rank_timeout' : 'rank_failed'
      if (cancelled?.aborted !== true) this.#reportRankFailure(rank, error)
      return { ...result, fallback: result.fallback ?? fallback }
    }
  }

  /** Reports the first failure after a success. */
  #reportRankFailure(rank: Rank, error: unknown): void {
    if (this.#failingRanks.has(rank)) return
    this.#failingRanks.add(rank)
    const problem = errorMessage(error) || 'It failed without a message.'
    const { reason, message } = new Failure('search_degraded', `Search ignores \`rank\` for now. ${problem}`, { problem })
    this.#options.report({ reason, message, error })
  }
}

/** Limits one source to `perSource` matches while another source has a match at least half as good. */
function limitPerSource(
  matches: readonly SearchMatch[],
  sourceOf: (match: SearchMatch) => string,
  perSource: number,
): readonly SearchMatch[] {
  const rest = [...matches]
  const ordered: SearchMatch[] = []
  const counts = new Map<string, number>()
  const isFull = (match: SearchMatch): boolean => (counts.get(sourceOf(match)) ?? 0) >= perSource
  while (rest.length > 0) {
    const first = rest[0] as SearchMatch
    const other = isFull(first) ? rest.findIndex((match) => !isFull(match) && match.score >= 0.5 * first.score) : 0
    const [next] = rest.splice(Math.max(0, other), 1) as [SearchMatch]
    ordered.push(next)
    counts.set(sourceOf(next), (counts.get(sourceOf(next)) ?? 0) + 1)
  }
  return ordered
}

/** Leaves out copies of one tool beyond their share of the first `limit` matches. */
function limitCopies(
  matches: readonly SearchMatch[],
  isCopy: (a: SearchMatch, b: SearchMatch) => boolean,
  limit: number,
): readonly SearchMatch[] {
  const kept: SearchMatch[] = []
  for (const match of matches) {
    if (kept.length === limit) break
    if (kept.filter((other) => isCopy(match, other)).length < similarPlaces(limit)) kept.push(match)
  }
  return [...kept, ...matches.filter((match) => !kept.includes(match) && !kept.some((other) => isCopy(match, other)))]
}
