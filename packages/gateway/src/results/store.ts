import { randomBytes } from 'node:crypto'
import type { ContentBlock } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'

/** The full text of a truncated result. */
export interface StoredText {
  readonly kind: 'text'
  readonly text: string
  /** Original length; larger than `text.length` if the text was too long to store. */
  readonly characters: number
  /** Number of characters already sent. */
  readonly sent: number
}

/** A content block that is not text and was not sent. */
interface StoredBlock {
  readonly kind: 'block'
  readonly block: ContentBlock
  readonly characters: number
}

export type StoredResult = StoredText | StoredBlock

export interface StoreLimits {
  /** Total memory. */
  readonly bytes: number
  readonly bytesPerClient: number
  readonly keepMs: number
}

const defaultLimits: StoreLimits = { bytes: 268_435_456, bytesPerClient: 33_554_432, keepMs: 900_000 }

interface Item {
  readonly owner: string
  readonly result: StoredResult
  readonly bytes: number
  readonly expiresAt: number
}

const handleBytes = 16
// Accounts for the overhead of small results.
const minBytes = 1_024

/** Temporary store for truncated results. The oldest are evicted first; a client can only read its own. */
export class ResultStore {
  readonly #clock: Clock
  readonly #limits: StoreLimits
  /** Oldest first. */
  readonly #items = new Map<string, Item>()
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0
  #cancelExpiry: (() => void) | undefined

  constructor(clock: Clock, limits: Partial<StoreLimits> = {}) {
    this.#clock = clock
    this.#limits = { ...defaultLimits, ...limits }
  }

  /** The longest text that can be stored. */
  get maxCharacters(): number {
    return Math.floor(Math.min(this.#limits.bytes, this.#limits.bytesPerClient) / 2)
  }

  get keepMs(): number {
    return this.#limits.keepMs
  }

  /** Stores a result and returns its handle; `undefined` if it is too large. */
  add(owner: string, result: StoredResult): string | undefined {
    // Text takes up to two bytes per character, Base64 one.
    const bytes = Math.max(minBytes, result.kind === 'text' ? result.text.length * 2 : result.characters)
    const { bytes: maxBytes, bytesPerClient, keepMs } = this.#limits
    if (bytes > Math.min(maxBytes, bytesPerClient)) return undefined
    for (const [handle, item] of this.#items) {
      const exceedsClientLimit = item.owner === owner && (this.#bytesOf.get(owner) ?? 0) + bytes > bytesPerClient
      if (exceedsClientLimit || this.#bytes + bytes > maxBytes) this.#drop(handle, item)
    }
    const handle = randomBytes(handleBytes).toString('base64url')
    this.#items.set(handle, { owner, result, bytes, expiresAt: this.#clock.now() + keepMs })
    this.#count(owner, bytes)
    this.#cancelExpiry ??= this.#clock.after(keepMs, () => this.#expire(), true)
    return handle
  }

  get(owner: string, handle: string): StoredResult | undefined {
    const item = this.#items.get(handle)
    return item !== undefined && item.owner === owner && item.expiresAt > this.#clock.now() ? item.result : undefined
  }

  close(): void {
    this.#cancelExpiry?.()
    this.#cancelExpiry = undefined
    this.#items.clear()
    this.#bytesOf.clear()
    this.#bytes = 0
  }

  #expire(): void {
    this.#cancelExpiry = undefined
    const now = this.#clock.now()
    for (const [handle, item] of this.#items) {
      if (item.expiresAt > now) {
        this.#cancelExpiry = this.#clock.after(item.expiresAt - now, () => this.#expire(), true)
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
    const total = (this.#bytesOf.get(owner) ?? 0) + bytes
    if (total > 0) this.#bytesOf.set(owner, total)
    else this.#bytesOf.delete(owner)
  }
}
