import { Failure, type SemanticMatch, type Tool } from '@unfold-mcp/core'
import { errorMessage, type Reporter } from '../tool/report.ts'
import { checkedVectors, type Embedder } from './embedder.ts'
import type { Fallback } from './fallback.ts'
import { product, unit } from './nearness.ts'
import { Late, within } from './time-limit.ts'
import { contentOf, toolText } from './tool-text.ts'
import { Vectors } from './vectors.ts'

interface Options {
  readonly embedder: Embedder
  readonly now: () => number
  readonly report: Reporter
}

interface Patience {
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/** How near the meaning of a query is to tools, or why that is not known. */
export type Nearness = { readonly near: readonly SemanticMatch[] } | { readonly fallback: Fallback }

/** 128 MB of vectors: 20,000 tools at 1,536 dimensions. */
const mostNumbers = 2 ** 25
const keptUnusedMs = 60 * 60 * 1_000
const batchSize = 64
const batchTimeoutMs = 30_000
const longestQuery = 2_000
// An endpoint that is down should cost a search its deadline now and then, not every time.
const restMs = 5_000
const refusedMs = 10 * 60 * 1_000
const mostRefused = 10_000

/** What tools mean, by an embedder. Vectors of tools are made in the background; a tool that has none yet is found by its words. */
export class Meanings {
  readonly #options: Options
  readonly #vectors = new Vectors(mostNumbers)
  /** Texts that wait for their vector, by content. */
  readonly #wanted = new Map<string, string>()
  /** Until when a text that the embedder would not take is left alone, by content. */
  readonly #refused = new Map<string, number>()
  readonly #closing = new AbortController()
  #filling = false
  #restsUntil = Number.NEGATIVE_INFINITY
  #failsSinceReport = false
  #successes = 0
  /** How many successes there were when a text was last refused, or the filling began. */
  #successesBefore = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** How near each of these tools that has a vector is to the query. Knows of no other tools, and is there within the deadline. */
  async near(query: string, tools: ReadonlyMap<string, Tool>, { deadlineMs, signal: cancelled }: Patience): Promise<Nearness> {
    if (this.#options.now() < this.#restsUntil) return { fallback: 'embedder_failed' }
    this.#want(tools)
    try {
      const [vector] = await within(deadlineMs, cancelled, (signal) => this.#embed([query.slice(0, longestQuery)], signal))
      const near = this.#compare(vector as Float32Array, tools)
      return near.length === 0 && tools.size > 0 ? { fallback: 'embedder_not_ready' } : { near }
    } catch (error) {
      if (cancelled?.aborted !== true) this.#failed(error)
      return { fallback: error instanceof Late ? 'embedder_late' : 'embedder_failed' }
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort()
    this.#wanted.clear()
  }

  /** Vectors of length 1, so that comparing two is one pass. */
  async #embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const vectors = checkedVectors(await this.#options.embedder.embed(texts, signal), texts.length)
    this.#successes++
    this.#failsSinceReport = false
    return vectors.map(unit)
  }

  #compare(query: Float32Array, tools: ReadonlyMap<string, Tool>): readonly SemanticMatch[] {
    const nowMs = this.#options.now()
    const near: SemanticMatch[] = []
    let other: number | undefined
    for (const [id, tool] of tools) {
      const content = contentOf(tool)
      const vector = this.#vectors.get(content, nowMs)
      if (vector === undefined) continue
      if (vector.length === query.length) near.push({ id, score: product(query, vector) })
      else {
        // Made by another model, or by one that has changed: to be made again.
        other = vector.length
        this.#vectors.delete(content)
      }
    }
    if (other === undefined) return near
    throw new Error(`The embedder gave vectors of ${other} dimensions for tools and of ${query.length} for a query.`)
  }

  #want(tools: ReadonlyMap<string, Tool>): void {
    const nowMs = this.#options.now()
    for (const tool of tools.values()) {
      const content = contentOf(tool)
      if (this.#vectors.get(content, nowMs) !== undefined || this.#wanted.has(content)) continue
      if ((this.#refused.get(content) ?? nowMs) <= nowMs) this.#wanted.set(content, toolText(tool))
    }
    if (this.#filling || this.#wanted.size === 0 || this.#closing.signal.aborted) return
    this.#filling = true
    void this.#fill().finally(() => {
      this.#filling = false
    })
  }

  async #fill(): Promise<void> {
    const { now } = this.#options
    this.#successesBefore = this.#successes
    this.#vectors.forgetUnusedSince(now() - keptUnusedMs)
    try {
      while (this.#wanted.size > 0) {
        const batch = [...this.#wanted].slice(0, batchSize)
        const hadRoom = await this.#fillBatch(batch)
        for (const [content] of batch) this.#wanted.delete(content)
        if (!hadRoom) break
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#failed(error)
    }
    this.#wanted.clear()
  }

  /** Whether there was room for the vectors of the batch. */
  async #fillBatch(batch: readonly (readonly [content: string, text: string])[]): Promise<boolean> {
    const { now } = this.#options
    const texts = batch.map(([, text]) => text)
    try {
      const vectors = await within(batchTimeoutMs, this.#closing.signal, (signal) => this.#embed(texts, signal))
      return batch.every(([content], index) => this.#vectors.set(content, vectors[index] as Float32Array, now()))
    } catch (error) {
      // An embedder that takes other texts has something against one of these; the rest should not go without.
      if (error instanceof Late || this.#closing.signal.aborted || !(await this.#takesTexts())) throw error
      if (batch.length === 1) return this.#refuse(batch[0]?.[0] ?? '')
      const half = batch.length >> 1
      return (await this.#fillBatch(batch.slice(0, half))) && this.#fillBatch(batch.slice(half))
    }
  }

  /** Whether it took a text since one was last refused, or takes one now. */
  async #takesTexts(): Promise<boolean> {
    if (this.#successes > this.#successesBefore) return true
    const probe = within(batchTimeoutMs, this.#closing.signal, (signal) => this.#embed(['tool'], signal))
    return probe.then(
      () => true,
      () => false,
    )
  }

  #refuse(content: string): true {
    if (this.#refused.size >= mostRefused) this.#refused.clear()
    this.#refused.set(content, this.#options.now() + refusedMs)
    this.#successesBefore = this.#successes
    return true
  }

  /** Once for each time that it stops working. */
  #failed(error: unknown): void {
    const { now, report } = this.#options
    this.#restsUntil = now() + restMs
    if (this.#failsSinceReport) return
    this.#failsSinceReport = true
    const problem = errorMessage(error) || 'The embedder failed without a message.'
    const { reason, message } = new Failure('search_degraded', `Search goes by words alone for now. ${problem}`, { problem })
    report({ reason, message, error })
  }
}
