import type { Postings } from '../storage/postings.ts'
import type { DocumentSources } from '../storage/sources.ts'
import { rarityOf } from './ranking.ts'

/** Visible documents: all, or those whose byte is 1. */
export interface VisibleDocuments {
  readonly total: number
  readonly visible?: Uint8Array
  /** Absent if all visible documents have the same source. */
  readonly sources?: DocumentSources
}

/** A number that is the same for the documents of all sources, except a few. */
export interface BySource {
  readonly common: number
  readonly exceptions?: Exceptions
}

interface Exceptions {
  /** In ascending order. */
  readonly sources: Uint32Array
  readonly values: Float64Array
}

export function valueFor({ common, exceptions }: BySource, source: number): number {
  if (exceptions === undefined) return common
  const { sources, values } = exceptions
  let low = 0
  let high = sources.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sources[middle] as number) < source) low = middle + 1
    else high = middle
  }
  return sources[low] === source ? (values[low] as number) : common
}

/** Applies a function to the common value and to the exceptions. */
export function mapBySource({ common, exceptions }: BySource, change: (value: number) => number): BySource {
  if (exceptions === undefined) return { common: change(common) }
  return { common: change(common), exceptions: { sources: exceptions.sources, values: exceptions.values.map(change) } }
}

/** The lower of two values for each source. */
export function lowerBySource(a: BySource, b: BySource): BySource {
  const common = Math.min(a.common, b.common)
  if (a.exceptions === undefined && b.exceptions === undefined) return { common }
  const { sources: left, values: leftValues } = a.exceptions ?? noExceptions
  const { sources: right, values: rightValues } = b.exceptions ?? noExceptions
  const sources: number[] = []
  const values: number[] = []
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const source = Math.min(left[i] ?? Number.POSITIVE_INFINITY, right[j] ?? Number.POSITIVE_INFINITY)
    const inLeft = left[i] === source ? leftValues[i++] : undefined
    const inRight = right[j] === source ? rightValues[j++] : undefined
    sources.push(source)
    values.push(Math.min(inLeft ?? a.common, inRight ?? b.common))
  }
  return { common, exceptions: { sources: Uint32Array.from(sources), values: Float64Array.from(values) } }
}

const noExceptions: Exceptions = { sources: new Uint32Array(0), values: new Float64Array(0) }

/**
 * Documents of one source that make a term more common for other sources. Without this limit, a server could repeat a word in many
 * tools until the word counts for nothing in the tools of other servers.
 */
const countedPerSource = 4

/** Counts the visible documents that contain a term. */
export class Holders {
  readonly #postings: Postings
  readonly #scope: VisibleDocuments
  readonly #known: Map<number, BySource>
  /** Documents with a term, by source … */
  #counts = new Uint32Array(0)
  /** … and the term that was counted, plus one. */
  #counted = new Uint32Array(0)

  /** `known` holds the counts for this scope from before. */
  constructor(postings: Postings, scope: VisibleDocuments, known = new Map<number, BySource>()) {
    this.#postings = postings
    this.#scope = scope
    this.#known = known
  }

  get total(): number {
    return this.#scope.total
  }

  /** Number of documents with a term. Documents of one source beyond a few count only for that source. */
  of(term: number): BySource {
    const known = this.#known.get(term)
    if (known !== undefined) return known
    const { sources } = this.#scope
    const isFew = this.#postings.count(term) <= countedPerSource
    const holding = sources === undefined || isFew ? { common: this.#count(term) } : this.#bySource(term, sources)
    this.#known.set(term, holding)
    return holding
  }

  /** Inverse document frequency of a term that no document has. */
  get maxRarity(): number {
    return rarityOf(this.#scope.total, 0)
  }

  /** Inverse document frequency. */
  rarity(holding: BySource): BySource {
    return mapBySource(holding, (count) => rarityOf(this.#scope.total, count))
  }

  /** Inverse document frequency for the documents of most sources. */
  commonRarity({ common }: BySource): number {
    return rarityOf(this.#scope.total, common)
  }

  /** Inverse document frequency for the documents of a source, at most the common one. */
  rarityFor(holding: BySource, source: number): number {
    const common = this.commonRarity(holding)
    return holding.exceptions === undefined ? common : Math.min(common, rarityOf(this.#scope.total, valueFor(holding, source)))
  }

  #count(term: number): number {
    const { visible } = this.#scope
    const count = this.#postings.count(term)
    if (visible === undefined) return count
    const { pool } = this.#postings
    const start = this.#postings.start(term)
    let holding = 0
    for (let i = start; i < start + 2 * count; i += 2) holding += visible[pool[i] as number] ?? 0
    return holding
  }

  #bySource(term: number, { numbers, capacity }: DocumentSources): BySource {
    // Most searches know the counts from before.
    if (this.#counts.length < capacity) {
      this.#counts = new Uint32Array(capacity)
      this.#counted = new Uint32Array(capacity)
    }
    const { visible } = this.#scope
    const { pool } = this.#postings
    const start = this.#postings.start(term)
    const end = start + 2 * this.#postings.count(term)
    const counts = this.#counts
    const counted = this.#counted
    const flooding: number[] = []
    let common = 0
    for (let i = start; i < end; i += 2) {
      const document = pool[i] as number
      if (visible !== undefined && visible[document] === 0) continue
      const source = numbers[document] as number
      const count = counted[source] === term + 1 ? (counts[source] as number) + 1 : 1
      counted[source] = term + 1
      counts[source] = count
      if (count <= countedPerSource) common++
      else if (count === countedPerSource + 1) flooding.push(source)
    }
    if (flooding.length === 0) return { common }
    const sources = Uint32Array.from(flooding).sort()
    const values = new Float64Array(sources.length)
    for (let i = 0; i < sources.length; i++) values[i] = common + (counts[sources[i] as number] as number) - countedPerSource
    return { common, exceptions: { sources, values } }
  }
}
