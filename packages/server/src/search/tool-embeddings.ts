import { Failure, type SemanticMatch, type Tool } from '@unfold-mcp/core'
import { errorMessage, type Reporter } from '../tool/report.ts'
import { type Embedder, validateVectors } from './embedder.ts'
import type { Fallback } from './fallback.ts'
import { dotProduct, normalize } from './similarity.ts'
import { TimeoutError, withTimeout } from './timeout.ts'
import { textHash, toolText } from './tool-text.ts'
import { VectorCache } from './vector-cache.ts'

interface Options {
  readonly embedder: Embedder
  readonly now: () => number
  readonly report: Reporter
}

interface CompareOptions {
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/** Similarity of a query to tools, or why it is not available. */
type Comparison = { readonly scores: readonly SemanticMatch[] } | { readonly fallback: Fallback }

/** 128 MB of vectors: 20,000 tools at 1,536 dimensions. */
const maxNumbers = 2 ** 25
const unusedTtlMs = 60 * 60 * 1_000
const batchSize = 64
const batchTimeoutMs = 30_000
const maxQueryLength = 2_000
// With an endpoint that is down, only one search in this time waits for the deadline.
const failureBackoffMs = 5_000
const rejectedTtlMs = 10 * 60 * 1_000
const maxRejected = 10_000

/** Embeddings of tools, computed in the background. Tools without one yet are found by keyword only. */
export class ToolEmbeddings {
  readonly #options: Options
  readonly #vectors = new VectorCache(maxNumbers)
  /** Texts without a vector, by hash. */
  readonly #queue = new Map<string, string>()
  /** Times until which texts that the embedder rejected are not retried, by hash. */
  readonly #rejected = new Map<string, number>()
  readonly #closing = new AbortController()
  #filling = false
  #backoffUntil = Number.NEGATIVE_INFINITY
  #isFailureReported = false
  #successes = 0
  /** Value of `#successes` when a text was last rejected, or when filling began. */
  #successesBefore = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** Scores each of these tools that has a vector; resolves within the deadline. */
  async compare(
    query: string,
    tools: ReadonlyMap<string, Tool>,
    { deadlineMs, signal: cancelled }: CompareOptions,
  ): Promise<Comparison> {
    if (this.#options.now() < this.#backoffUntil) return { fallback: 'embedder_failed' }
    this.#enqueue(tools)
    try {
      const [vector] = await withTimeout(deadlineMs, cancelled, (signal) => this.#embed([query.slice(0, maxQueryLength)], signal))
      const scores = this.#score(vector as Float32Array, tools)
      return scores.length === 0 && tools.size > 0 ? { fallback: 'embedder_not_ready' } : { scores }
    } catch (error) {
      if (cancelled?.aborted !== true) this.#failed(error)
      return { fallback: error instanceof TimeoutError ? 'embedder_timeout' : 'embedder_failed' }
    }
  }

  close(): void {
    this.#closing.abort()
    this.#queue.clear()
  }

  /** Returns unit vectors, so that their dot product is the cosine similarity. */
  async #embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const vectors = validateVectors(await this.#options.embedder.embed(texts, signal), texts.length)
    this.#successes++
    this.#isFailureReported = false
    return vectors.map(normalize)
  }

  #score(query: Float32Array, tools: ReadonlyMap<string, Tool>): readonly SemanticMatch[] {
    const nowMs = this.#options.now()
    const scores: SemanticMatch[] = []
    let otherLength: number | undefined
    for (const [id, tool] of tools) {
      const hash = textHash(tool)
      const vector = this.#vectors.get(hash, nowMs)
      if (vector === undefined) continue
      if (vector.length === query.length) scores.push({ id, score: dotProduct(query, vector) })
      else {
        // From another model, or the model changed: recompute it.
        otherLength = vector.length
        this.#vectors.delete(hash)
      }
    }
    if (otherLength === undefined) return scores
    throw new Error(`The embedder returned vectors of ${otherLength} dimensions for tools and of ${query.length} for a query.`)
  }

  #enqueue(tools: ReadonlyMap<string, Tool>): void {
    const nowMs = this.#options.now()
    for (const tool of tools.values()) {
      const hash = textHash(tool)
      if (this.#vectors.get(hash, nowMs) !== undefined || this.#queue.has(hash)) continue
      if ((this.#rejected.get(hash) ?? nowMs) <= nowMs) this.#queue.set(hash, toolText(tool))
    }
    if (this.#filling || this.#queue.size === 0 || this.#closing.signal.aborted) return
    this.#filling = true
    void this.#fill().finally(() => {
      this.#filling = false
    })
  }

  async #fill(): Promise<void> {
    const { now } = this.#options
    this.#successesBefore = this.#successes
    this.#vectors.deleteUnusedSince(now() - unusedTtlMs)
    try {
      while (this.#queue.size > 0) {
        const batch = [...this.#queue].slice(0, batchSize)
        const hadRoom = await this.#fillBatch(batch)
        for (const [hash] of batch) this.#queue.delete(hash)
        if (!hadRoom) break
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#failed(error)
    }
    this.#queue.clear()
  }

  /** Returns false when the cache is full. */
  async #fillBatch(batch: readonly (readonly [hash: string, text: string])[]): Promise<boolean> {
    const { now } = this.#options
    const texts = batch.map(([, text]) => text)
    try {
      const vectors = await withTimeout(batchTimeoutMs, this.#closing.signal, (signal) => this.#embed(texts, signal))
      return batch.every(([hash], index) => this.#vectors.set(hash, vectors[index] as Float32Array, now()))
    } catch (error) {
      // If the embedder accepts other texts, one of these is the problem: bisect to embed the rest.
      if (error instanceof TimeoutError || this.#closing.signal.aborted || !(await this.#acceptsTexts())) throw error
      if (batch.length === 1) return this.#reject(batch[0]?.[0] ?? '')
      const half = batch.length >> 1
      return (await this.#fillBatch(batch.slice(0, half))) && this.#fillBatch(batch.slice(half))
    }
  }

  /** Checks that the embedder works at all: it succeeded since the last rejection, or accepts a probe. */
  async #acceptsTexts(): Promise<boolean> {
    if (this.#successes > this.#successesBefore) return true
    const probe = withTimeout(batchTimeoutMs, this.#closing.signal, (signal) => this.#embed(['tool'], signal))
    return probe.then(
      () => true,
      () => false,
    )
  }

  #reject(hash: string): true {
    if (this.#rejected.size >= maxRejected) this.#rejected.clear()
    this.#rejected.set(hash, this.#options.now() + rejectedTtlMs)
    this.#successesBefore = this.#successes
    return true
  }

  /** Backs off, and reports the first failure after a success. */
  #failed(error: unknown): void {
    const { now, report } = this.#options
    this.#backoffUntil = now() + failureBackoffMs
    if (this.#isFailureReported) return
    this.#isFailureReported = true
    const problem = errorMessage(error) || 'The embedder failed without a message.'
    const { reason, message } = new Failure('search_degraded', `Search uses its built-in table for now. ${problem}`, { problem })
    report({ reason, message, error })
  }
}
