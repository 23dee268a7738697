import { randomBytes } from 'node:crypto'
import type { ContentBlock } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'

/** A text that was cut. */
export interface StoredText {
  readonly kind: 'text'
  readonly text: string
  /** How long it was; more than the text that is kept when that was too long to keep. */
  readonly characters: number
  /** Up to where it was sent. */
  readonly sent: number
}

/** A part of a result that is no text and was not sent. */
interface StoredBlock {
  readonly kind: 'block'
  readonly block: ContentBlock
  readonly characters: number
}

export type StoredResult = StoredText | StoredBlock

export interface StoreLimits {
  /** What is kept in all, in bytes of memory. */
  readonly bytes: number
  readonly bytesPerClient: number
  readonly keepMs: number
}

const usualLimits: StoreLimits = { bytes: 268_435_456, bytesPerClient: 33_554_432, keepMs: 900_000 }

interface Item {
  readonly owner: string
  readonly result: StoredResult
  readonly bytes: number
  readonly until: number
}

const handleBytes = 16
// So that many small ones are counted as well.
const minBytes = 1_024

/** What was cut from results, for a while: the oldest go first when there is too much. Nobody reads what another was sent. */
export class ResultStore {
  readonly #clock: Clock
  readonly #limits: StoreLimits
  /** The oldest first. */
  readonly #items = new Map<string, Item>()
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, limits: Partial<StoreLimits> = {}) {
    this.#clock = clock
    this.#limits = { ...usualLimits, ...limits }
  }

  /** The longest text that can be kept. */
  get maxCharacters(): number {
    return Math.floor(Math.min(this.#limits.bytes, this.#limits.bytesPerClient) / 2)
  }

  get keepMs(): number {
    return this.#limits.keepMs
  }

  /** Keeps a result for its owner, and returns the handle to read it by; nothing for one that is too large. */
  keep(owner: string, result: StoredResult): string | undefined {
    // A character of text may take two bytes, one of Base64 takes one.
    const bytes = Math.max(minBytes, result.kind === 'text' ? result.text.length * 2 : result.characters)
    const { bytes: most, bytesPerClient, keepMs } = this.#limits
    if (bytes > Math.min(most, bytesPerClient)) return undefined
    for (const [handle, item] of this.#items) {
      const isInTheWay = item.owner === owner && (this.#bytesOf.get(owner) ?? 0) + bytes > bytesPerClient
      if (isInTheWay || this.#bytes + bytes > most) this.#drop(handle, item)
    }
    const handle = randomBytes(handleBytes).toString('base64url')
    this.#items.set(handle, { owner, result, bytes, until: this.#clock.now() + keepMs })
    this.#count(owner, bytes)
    this.#cancel ??= this.#clock.after(keepMs, () => this.#expire(), true)
    return handle
  }

  /** What is kept under this handle, if it is this owner's. */
  get(owner: string, handle: string): StoredResult | undefined {
    const item = this.#items.get(handle)
    return item !== undefined && item.owner === owner && item.until > this.#clock.now() ? item.result : undefined
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#items.clear()
    this.#bytesOf.clear()
    this.#bytes = 0
  }

  #expire(): void {
    this.#cancel = undefined
    const now = this.#clock.now()
    for (const [handle, item] of this.#items) {
      if (item.until > now) {
        this.#cancel = this.#clock.after(item.until - now, () => this.#expire(), true)
        return
      }
      this.#drop(handle, item)
    }
  }

  #drop(handle: string, { owner, bytes }: Item): void {
    this.#items.delete(handle)
    this.#count(owner, -bytes)
  }

  #count(owner: string, bytes: number): void {
    this.#bytes += bytes
    const left = (this.#bytesOf.get(owner) ?? 0) + bytes
    if (left > 0) this.#bytesOf.set(owner, left)
    else this.#bytesOf.delete(owner)
  }
}
