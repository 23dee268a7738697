import { randomBytes } from 'node:crypto'
import type { ContentBlock } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import type { ResultOwner } from './owner.ts'

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
  readonly bytesPerPrincipal: number
  readonly bytesPerClient: number
  readonly keepMs: number
}

const mebibyte = 1_048_576
const defaultLimits: StoreLimits = {
  bytes: 256 * mebibyte,
  bytesPerPrincipal: 64 * mebibyte,
  bytesPerClient: 32 * mebibyte,
  keepMs: 900_000,
}

/** Results that all replicas of a gateway can read. It never rejects: what it cannot store is readable here only. */
export interface SharedResults {
  put(owner: ResultOwner, handle: string, result: StoredResult, keepMs: number): Promise<void>
  /** `keepMs`: how long it is still stored. */
  get(owner: ResultOwner, handle: string): Promise<{ readonly result: StoredResult; readonly keepMs: number } | undefined>
}

/** Why a result is no longer stored. */
export type Release = 'expired' | 'evicted' | 'ended'

interface Item {
  readonly handle: string
  readonly holder: Holder
  readonly result: StoredResult
  readonly bytes: number
  readonly expiresAt: number
}

/** The results of one owner, oldest first. */
interface Holder {
  readonly owner: ResultOwner
  readonly items: Set<Item>
  bytes: number
}

const handleBytes = 16
// Accounts for the overhead of small results.
const minBytes = 1_024
const maxReleased = 1_000

/**
 * Temporary store for truncated results. A client can only read its own. At its limit, its oldest result is evicted; at the total
 * limit, the oldest of the principal that has the most, so that nobody can evict the results of others who have less.
 */
export class ResultStore {
  readonly #clock: Clock
  readonly #limits: StoreLimits
  /** Oldest first. */
  readonly #items = new Map<string, Item>()
  readonly #holders = new Map<string, Holder>()
  /** Principals and their bytes. */
  readonly #principals = new Map<string, number>()
  /** The last results that were released, so that `read_result` can explain it. */
  readonly #released = new Map<string, { readonly owner: ResultOwner; readonly release: Release }>()
  readonly #shared: SharedResults | undefined
  /** Results that are being written to the shared store. */
  readonly #writing = new Map<string, Promise<void>>()
  #bytes = 0
  #cancelExpiry: (() => void) | undefined

  constructor(clock: Clock, limits: Partial<StoreLimits> = {}, shared?: SharedResults) {
    this.#clock = clock
    this.#shared = shared
    this.#limits = { ...defaultLimits, ...limits }
  }

  /** The longest text that can be stored. */
  get maxCharacters(): number {
    return Math.floor(this.#maxItemBytes / 2)
  }

  get keepMs(): number {
    return this.#limits.keepMs
  }

  /** Number and size of the stored results. */
  get size(): { readonly results: number; readonly bytes: number } {
    return { results: this.#items.size, bytes: this.#bytes }
  }

  get #maxItemBytes(): number {
    const { bytes, bytesPerPrincipal, bytesPerClient } = this.#limits
    return Math.min(bytes, bytesPerPrincipal, bytesPerClient)
  }

  /** Stores a result and returns its handle; `undefined` if there is no room for it. */
  add(owner: ResultOwner, result: StoredResult): string | undefined {
    const { keepMs } = this.#limits
    const handle = randomBytes(handleBytes).toString('base64url')
    if (!this.#insert(owner, handle, result, keepMs)) return undefined
    const writing = this.#shared?.put(owner, handle, result, keepMs).finally(() => this.#writing.delete(handle))
    if (writing !== undefined) this.#writing.set(handle, writing)
    return handle
  }

  /** Resolves when other replicas can read a result; `undefined` if that is so already. */
  written(handle: string): Promise<void> | undefined {
    return this.#writing.get(handle)
  }

  #insert(owner: ResultOwner, handle: string, result: StoredResult, keepMs: number): boolean {
    // Text takes up to two bytes per character, Base64 one.
    const bytes = Math.max(minBytes, result.kind === 'text' ? result.text.length * 2 : result.characters)
    if (bytes > this.#maxItemBytes || !this.#makeRoom(owner, bytes)) return false
    const holder = this.#holders.get(owner.key) ?? { owner, items: new Set(), bytes: 0 }
    const item: Item = { handle, holder, result, bytes, expiresAt: this.#clock.now() + keepMs }
    this.#holders.set(owner.key, holder)
    this.#items.set(handle, item)
    holder.items.add(item)
    this.#count(holder, bytes)
    this.#cancelExpiry ??= this.#clock.after(keepMs, () => this.#expire(), true)
    return true
  }

  get(owner: ResultOwner, handle: string): StoredResult | undefined {
    const item = this.#items.get(handle)
    return item?.holder.owner.key === owner.key && item.expiresAt > this.#clock.now() ? item.result : undefined
  }

  /** Like `get`, but also reads what another replica stored. */
  async find(owner: ResultOwner, handle: string): Promise<StoredResult | undefined> {
    const own = this.get(owner, handle)
    if (own !== undefined || this.#shared === undefined || this.#items.has(handle)) return own
    const shared = await this.#shared.get(owner, handle)
    // The parts of a long text are read one after another.
    if (shared !== undefined && !this.#items.has(handle)) this.#insert(owner, handle, shared.result, shared.keepMs)
    return shared?.result
  }

  /** Why a result of this owner, or of an earlier session of the same principal, is no longer stored; `undefined` if unknown. */
  releaseOf(owner: ResultOwner, handle: string): Release | undefined {
    const released = this.#released.get(handle)
    const isOwn = released?.owner.key === owner.key || (released?.release === 'ended' && released.owner.id === owner.id)
    return isOwn ? released?.release : undefined
  }

  /** Releases the results of sessions that ended. */
  release(hasEnded: (owner: ResultOwner) => boolean): void {
    for (const holder of [...this.#holders.values()])
      if (hasEnded(holder.owner)) for (const item of holder.items) this.#drop(item, 'ended')
  }

  close(): void {
    this.#cancelExpiry?.()
    this.#cancelExpiry = undefined
    for (const part of [this.#items, this.#holders, this.#principals, this.#released]) part.clear()
    this.#bytes = 0
  }

  /** Evicts results until there is room; returns `false` if that would take results from principals that have less. */
  #makeRoom(owner: ResultOwner, bytes: number): boolean {
    const { bytes: maxBytes, bytesPerPrincipal, bytesPerClient } = this.#limits
    const { principal } = owner
    const ownBytes = (): number => this.#holders.get(owner.key)?.bytes ?? 0
    while (ownBytes() + bytes > bytesPerClient) this.#evictFrom(this.#holders.get(owner.key))
    while (this.#bytesOf(principal) + bytes > bytesPerPrincipal) this.#evictFrom(this.#largestHolder(principal, owner, bytes))
    while (this.#bytes + bytes > maxBytes) {
      const [largest, most] = this.#largestPrincipal()
      const victim = most > this.#bytesOf(principal) + bytes ? largest : principal
      if (this.#bytesOf(victim) === 0) return false
      this.#evictFrom(this.#largestHolder(victim, owner, bytes))
    }
    return true
  }

  #largestPrincipal(): readonly [string, number] {
    let largest: readonly [string, number] = ['', 0]
    for (const entry of this.#principals) if (entry[1] > largest[1]) largest = entry
    return largest
  }

  /** The holder of a principal with the most bytes; `adding` counts with the bytes that it is about to add. */
  #largestHolder(principal: string, adding: ResultOwner, added: number): Holder | undefined {
    let largest: Holder | undefined
    let most = 0
    for (const holder of this.#holders.values()) {
      if (holder.owner.principal !== principal) continue
      const bytes = holder.bytes + (holder.owner.key === adding.key ? added : 0)
      if (bytes > most) [largest, most] = [holder, bytes]
    }
    return largest
  }

  #bytesOf(principal: string): number {
    return this.#principals.get(principal) ?? 0
  }

  #evictFrom(holder: Holder | undefined): void {
    const [oldest] = holder?.items ?? []
    if (oldest !== undefined) this.#drop(oldest, 'evicted')
  }

  #expire(): void {
    this.#cancelExpiry = undefined
    const now = this.#clock.now()
    for (const item of this.#items.values()) {
      if (item.expiresAt > now) {
        this.#cancelExpiry = this.#clock.after(item.expiresAt - now, () => this.#expire(), true)
        return
      }
      this.#drop(item, 'expired')
    }
  }

  #drop(item: Item, release: Release): void {
    const { handle, holder, bytes } = item
    this.#items.delete(handle)
    holder.items.delete(item)
    this.#count(holder, -bytes)
    if (holder.items.size === 0) this.#holders.delete(holder.owner.key)
    this.#released.set(handle, { owner: holder.owner, release })
    const [oldest] = this.#released.keys()
    if (this.#released.size > maxReleased && oldest !== undefined) this.#released.delete(oldest)
  }

  #count(holder: Holder, bytes: number): void {
    const { principal } = holder.owner
    holder.bytes += bytes
    this.#bytes += bytes
    const total = this.#bytesOf(principal) + bytes
    if (total > 0) this.#principals.set(principal, total)
    else this.#principals.delete(principal)
  }
}
