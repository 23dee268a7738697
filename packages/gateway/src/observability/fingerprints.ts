import { createHash } from 'node:crypto'

/** A part of a text: from the first character to the one before `end`. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** No value is shorter than this. */
export const minSecretLength = 6

const slots = 65_536

/**
 * Recognises values in a text without keeping them: of each there are its last characters, its length and a digest. So a token that was
 * replaced long ago is still known, costs little, and opens nothing for whoever reads the memory of this process.
 *
 * Of more than `most` values, those go first that were neither added nor found for the longest time.
 */
export class Fingerprints {
  readonly #most: number
  /** The least recently used one comes first. */
  readonly #used = new Map<string, { readonly ending: string; readonly length: number }>()
  readonly #byEnding = new Map<string, Map<number, number>>()
  // Rules out nearly every place in a text before anything is looked up.
  readonly #filter = new Uint8Array(slots)

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#used.size
  }

  /** Whether one of these was not known before. */
  add(values: readonly string[]): boolean {
    const before = this.#used.size
    for (const value of values) if (value.length >= minSecretLength) this.#add(value)
    const hasNew = this.#used.size > before
    for (const [key, { ending, length }] of this.#used) {
      if (this.#used.size <= this.#most) break
      this.#used.delete(key)
      this.#forget(ending, length)
    }
    return hasNew
  }

  /** Where in the text such a value is. Ranges may overlap. */
  find(text: string): readonly Range[] {
    const found: Range[] = []
    for (let end = minSecretLength; end <= text.length; end++) {
      if (this.#filter[slotOf(text, end)] === 0) continue
      for (const length of this.#byEnding.get(text.slice(end - minSecretLength, end))?.keys() ?? []) {
        const start = end - length
        if (start < 0 || !this.#use(keyOf(text.slice(start, end)))) continue
        found.push({ start, end })
      }
    }
    return found
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

  /** Whether it is known; it is the most recently used one then. */
  #use(key: string): boolean {
    const known = this.#used.get(key)
    if (known === undefined) return false
    this.#used.delete(key)
    this.#used.set(key, known)
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
