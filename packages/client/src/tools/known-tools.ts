import type { Tool } from '@unfold-mcp/core'
import { discovery } from '@unfold-mcp/core'
import type { CachedTools, CacheKey, ToolCache } from '../cache/cache.ts'
import { isUnknownMethod } from '../errors/conversion.ts'
import { ClientError, errorMessage } from '../errors/errors.ts'
import type { Session } from '../session/session.ts'
import type { Clock } from '../time/clock.ts'
import { applyDelta, parseDelta } from './delta.ts'
import {
  announcedIdentity,
  type Identity,
  identityOfTools,
  isIdentityOf,
  knowsIdentity,
  parseIdentity,
  sameIdentity,
} from './identity.ts'
import { listAll, usableTools } from './list.ts'

/** Tool list and its validity. */
interface ToolList {
  readonly tools: readonly Tool[]
  /** Including the tools that this client leaves out. */
  readonly all: readonly Tool[]
  readonly identity: string | undefined
  readonly freshUntil: number
  /** Announcements arrived when the list was read, so it is valid until the next one. */
  readonly receivedChanges: boolean
}

export interface KnownToolsOptions {
  /** Runs `work` in the current session, or in a new one. */
  readonly use: <T>(work: (session: Session) => Promise<T>) => Promise<T>
  /** True when the server would announce a change. */
  readonly receivesChanges: () => boolean
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly onWarning: (warning: string) => void
  readonly cache: ToolCache | undefined
  readonly key: CacheKey | undefined
  /** Cache entry, read while connecting. */
  readonly cached: Promise<CachedTools | undefined>
  readonly expectIdentity: string | undefined
}

const maxTtlMs = 86_400_000
const maxReloads = 5

/**
 * Tools of a server, with as few requests as possible: a list with a known identity is not requested again, and a list known to
 * be unchanged needs no request at all.
 */
export class KnownTools {
  readonly #options: KnownToolsOptions
  #known: ToolList | undefined
  #index: { readonly of: readonly Tool[]; readonly tools: ReadonlyMap<string, Tool> } | undefined
  #invalidations = 0
  #loaded = -1
  #loading: Promise<void> | undefined
  /** Identity announced in the handshake, until something may have changed. */
  #announced: string | undefined
  #lacksIdentity = false
  #hasWarnedIdentity = false

  constructor(options: KnownToolsOptions) {
    this.#options = options
  }

  /** A new session: its announced identity is valid for now; the known list may be outdated. */
  sessionOpened({ agreement: { capabilities }, isResumed }: Session): void {
    this.#announced = isResumed ? undefined : announcedIdentity(capabilities)
    this.#lacksIdentity = !knowsIdentity(capabilities)
    if (this.#known !== undefined) this.#invalidations++
  }

  /** The list may have changed. */
  invalidate(): void {
    this.#announced = undefined
    this.#invalidations++
  }

  /** A request may have changed the list. */
  forgetAnnounced(): void {
    this.#announced = undefined
  }

  get latest(): readonly Tool[] | undefined {
    return this.#known?.tools
  }

  named(name: string): Tool | undefined {
    const { latest } = this
    if (latest === undefined) return undefined
    if (this.#index?.of !== latest) this.#index = { of: latest, tools: byName(latest) }
    return this.#index.tools.get(name)
  }

  get identity(): string | undefined {
    return this.#known?.identity
  }

  get isFresh(): boolean {
    const { receivesChanges, clock } = this.#options
    if (this.#known === undefined || this.#loaded < this.#invalidations) return false
    return (receivesChanges() && this.#known.receivedChanges) || clock.wallTime() < this.#known.freshUntil
  }

  /** Returns the current tools. */
  async current(): Promise<readonly Tool[]> {
    // A list being read may be older than this request, except the first one.
    if (this.#known !== undefined && this.#loading !== undefined) await this.#loading.catch(() => undefined)
    if (!this.isFresh) await this.#load()
    for (let reload = 0; reload < maxReloads && this.#loaded < this.#invalidations; reload++) await this.#load()
    return this.#known?.tools ?? []
  }

  /** Returns a tool of the current list. */
  async find(name: string): Promise<Tool | undefined> {
    await this.current()
    return this.named(name)
  }

  /** Takes over a list that another client has read. It is valid until the next change. */
  adopt(tools: readonly Tool[]): void {
    this.invalidate()
    this.#known = { tools, all: tools, identity: undefined, freshUntil: 0, receivedChanges: this.#options.receivesChanges() }
    this.#loaded = this.#invalidations
  }

  /** Reads the list once, ignoring its identity, which may not cover everything or be wrong. */
  async refresh(signal?: AbortSignal): Promise<readonly Tool[]> {
    while (this.#loading !== undefined) await this.#loading.catch(() => undefined)
    this.invalidate()
    await this.#load((at) => this.#relist(at, signal))
    return this.#known?.tools ?? []
  }

  /** Requests the identity of the current list; `undefined` if the server does not support it. */
  async requestIdentity(params: Record<string, unknown> = {}): Promise<Identity | undefined> {
    if (this.#lacksIdentity) return undefined
    const { use, timeoutMs } = this.#options
    try {
      const what = discovery.methods.identity
      return parseIdentity(await use((session) => session.request(what, params, { what, timeout: timeoutMs })))
    } catch (error) {
      if (!isUnknownMethod(error)) throw error
      this.#lacksIdentity = true
      return undefined
    }
  }

  #load(read = (at: number): Promise<void> => this.#read(at)): Promise<void> {
    this.#loading ??= read(this.#invalidations).finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #relist(at: number, signal: AbortSignal | undefined): Promise<void> {
    const receivedChanges = this.#options.receivesChanges()
    this.#known = { ...(await this.#list(undefined, signal)), receivedChanges }
    this.#loaded = at
  }

  async #read(at: number): Promise<void> {
    const receivedChanges = this.#options.receivesChanges()
    const claim = await this.#claimedIdentity()
    const valid = this.#unchanged(claim) ?? (await this.#fromCache(claim)) ?? (await this.#update(claim))
    this.#known = { ...(valid ?? (await this.#list(claim))), receivedChanges }
    this.#loaded = at
  }

  async #claimedIdentity(): Promise<string | undefined> {
    const announced = this.#announced
    this.#announced = undefined
    return announced ?? (await this.requestIdentity())?.server_id
  }

  #unchanged(claim: string | undefined): ToolList | undefined {
    return this.#known !== undefined && sameIdentity(claim, this.#known.identity) ? this.#known : undefined
  }

  async #fromCache(claim: string | undefined): Promise<ToolList | undefined> {
    const { clock, use, onWarning, expectIdentity } = this.#options
    if (this.#known !== undefined) return undefined
    const entry = await this.#options.cached
    if (entry === undefined) return undefined
    const { tools: all, identity, freshUntil = 0 } = entry
    const isValid = claim === undefined ? clock.wallTime() < freshUntil : sameIdentity(claim, identity)
    if (!isValid || (expectIdentity !== undefined && !isIdentityOf(expectIdentity, all))) return undefined
    const tools = await use(async (session) => usableTools(all, session, onWarning))
    return { tools, all, identity, freshUntil, receivedChanges: false }
  }

  /** Requests the changes since the known list, if the server supports it. */
  async #update(claim: string | undefined): Promise<ToolList | undefined> {
    const known = this.#known
    if (claim === undefined || known?.identity === undefined) return undefined
    const { use, timeoutMs, onWarning } = this.#options
    const { changes: what } = discovery.methods
    const delta = await use((session) => session.request(what, { since: known.identity }, { what, timeout: timeoutMs })).then(
      parseDelta,
      (error: unknown) => {
        if (isUnknownMethod(error)) return undefined
        throw error
      },
    )
    const all = delta === undefined ? undefined : applyDelta(known.all, delta)
    if (delta === undefined || all === undefined) return undefined
    this.#checkExpected(all)
    const tools = await use(async (session) => usableTools(all, session, onWarning))
    return this.#store({ tools, all, identity: delta.identity, freshUntil: 0, receivedChanges: false })
  }

  async #list(claim: string | undefined, signal?: AbortSignal): Promise<ToolList> {
    const { use, timeoutMs, maxBytes, onWarning, clock } = this.#options
    const listing = await use((session) => listAll(session, { timeoutMs, maxBytes, onWarning, signal }))
    const { tools, all, identity: stated, ttlMs = 0 } = listing
    const identity = stated ?? (await this.#confirmedIdentity(claim, all))
    if (identity !== undefined && !isIdentityOf(identity, all)) this.#warnWrongIdentity(identity)
    this.#checkExpected(all)
    const freshUntil = ttlMs > 0 ? clock.wallTime() + Math.min(ttlMs, maxTtlMs) : 0
    return this.#store({ tools, all, identity, freshUntil, receivedChanges: false })
  }

  /** Returns the identity claimed before listing if it belongs to this list. */
  async #confirmedIdentity(claim: string | undefined, all: readonly Tool[]): Promise<string | undefined> {
    if (claim === undefined || isIdentityOf(claim, all)) return claim
    return sameIdentity((await this.requestIdentity())?.server_id, claim) ? claim : undefined
  }

  #warnWrongIdentity(identity: string): void {
    if (this.#hasWarnedIdentity) return
    this.#hasWarnedIdentity = true
    this.#options.onWarning(`The identity ${identity} sent by the server does not match its tools.`)
  }

  /** Compares the tools themselves, not the identity sent by the server. */
  #checkExpected(all: readonly Tool[]): void {
    const { expectIdentity: expected } = this.#options
    if (expected === undefined || isIdentityOf(expected, all)) return
    const actual = identityOfTools(all)
    throw new ClientError(
      'identity_mismatch',
      `The tools have changed: their identity is ${actual ?? 'unknown'}, not ${expected}. ` +
        'Review the changes, then expect the new identity.',
      { expected, actual },
    )
  }

  async #store(known: ToolList): Promise<ToolList> {
    const { cache, key, clock, use, onWarning } = this.#options
    if (cache === undefined || key === undefined) return known
    const { all: tools, identity, freshUntil } = known
    try {
      const { server, protocolVersion } = await use(async (session) => session.agreement)
      const entry: CachedTools = {
        tools,
        savedAt: clock.wallTime(),
        server,
        protocolVersion,
        ...(identity !== undefined && { identity }),
        ...(freshUntil > 0 && { freshUntil }),
      }
      await cache.set(key, entry)
    } catch (error) {
      onWarning(`The tools could not be cached: ${errorMessage(error)}`)
    }
    return known
  }
}

// The first tool of each name wins.
function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  return new Map(tools.toReversed().map((tool) => [tool.name, tool]))
}
