import { createHash } from 'node:crypto'

/** A half-open range of a text. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Shorter values are ignored. */
export const minSecretLength = 6

const slots = 65_536

/**
 * Recognises values in a text without storing them: it keeps the last characters, the length and a digest. An expired token is still
 * redacted, costs little, and cannot be read from the memory of this process.
 *
 * Beyond `maxSize` values, the least recently added or found ones are evicted.
 */
export class Fingerprints {
  readonly #maxSize: number
  /** Least recently used first. */
  readonly #used = new Map<string, { readonly ending: string; readonly length: number }>()
  readonly #byEnding = new Map<string, Map<number, number>>()
  // Bloom filter: rules out nearly every position before a lookup.
  readonly #filter = new Uint8Array(slots)

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get size(): number {
    return this.#used.size
  }

  /** Returns true if one of the values is new. */
  add(values: readonly string[]): boolean {
    const before = this.#used.size
    for (const value of values) if (value.length >= minSecretLength) this.#add(value)
    const hasNew = this.#used.size > before
    for (const [key, { ending, length }] of this.#used) {
      if (this.#used.size <= this.#maxSize) break
      this.#used.delete(key)
      this.#forget(ending, length)
    }
    return hasNew
  }

  /** Finds all values in a text. Ranges may overlap. */
  find(text: string): readonly Range[] {
    const ranges: Range[] = []
    for (let end = minSecretLength; end <= text.length; end++) {
      if (this.#filter[slotOf(text, end)] === 0) continue
      for (const length of this.#byEnding.get(text.slice(end - minSecretLength, end))?.keys() ?? []) {
        const start = end - length
        if (start < 0 || !this.#use(keyOf(text.slice(start, end)))) continue
        ranges.push({ start, end })
      }
    }
    return ranges
  }

  #add(value: string): void {
    const key = keyOf(value)
    if (this.#use(key)) return
    const { length } = value
    const ending = value.slice(-minSecretLength)
    const lengths = this.#byEnding.get(ending) ?? new Map<number, number>()
    lengths.set(length, (lengths.get(length) ?? 0) + 1)
    this.#byEnding.set(ending, lengths)
    this.#filter[slotOf(value, length)] = 1
    this.#used.set(key, { ending, length })
  }

  /** Marks a value as recently used; false if it is unknown. */
  #use(key: string): boolean {
    const entry = this.#used.get(key)
    if (entry === undefined) return false
    this.#used.delete(key)
    this.#used.set(key, entry)
    return true
  }

  #forget(ending: string, length: number): void {
    const lengths = this.#byEnding.get(ending)
    const left = (lengths?.get(length) ?? 0) - 1
    if (left > 0) lengths?.set(length, left)
    else lengths?.delete(length)
    if (lengths?.size === 0) this.#byEnding.delete(ending)
  }
}

const keyOf = (value: string): string => createHash('sha256').update(value, 'utf16le').digest('base64')

function slotOf(text: string, end: number): number {
  let hash = 0
  for (let at = end - minSecretLength; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 16)) & (slots - 1)
}
