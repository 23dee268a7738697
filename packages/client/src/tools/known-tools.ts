import type { Tool } from '@unfold-mcp/core'
import { discovery } from '@unfold-mcp/core'
import type { CachedTools, CacheKey, ToolCache } from '../cache/cache.ts'
import { ClientError, wordsOf } from '../errors/errors.ts'
import { isUnknownMethod } from '../errors/translation.ts'
import type { Link } from '../session/session.ts'
import type { Clock } from '../time/clock.ts'
import { applied, parseDelta } from './delta.ts'
import {
  announcedIdentity,
  type Identity,
  identityOfTools,
  isIdentityOf,
  knowsIdentity,
  parseIdentity,
  sameIdentity,
} from './identity.ts'
import { listAll, usableTools } from './listing.ts'

/** A list, and how long it is good. */
interface Known {
  readonly tools: readonly Tool[]
  /** All of it, also what this client leaves out. */
  readonly all: readonly Tool[]
  readonly identity: string | undefined
  readonly freshUntil: number
  /** Whether the server could be heard when it was read: then no news is good news. */
  readonly isHeard: boolean
}

export interface KnownToolsOptions {
  /** Does something over the link there is, or over a new one. */
  readonly use: <T>(work: (link: Link) => Promise<T>) => Promise<T>
  /** Whether a change of the list would be noticed by itself. */
  readonly hears: () => boolean
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly onWarning: (warning: string) => void
  readonly cache: ToolCache | undefined
  readonly key: CacheKey | undefined
  /** What the cache has, read while the server was being reached. */
  readonly cached: Promise<CachedTools | undefined>
  readonly expectIdentity: string | undefined
}

const longestTtlMs = 86_400_000
const impatience = 5

/**
 * The tools of a server, as few requests as can be: a list that is known by its identity is not asked for, and one that is
 * known to be unchanged is not asked about.
 */
export class KnownTools {
  readonly #options: KnownToolsOptions
  #known: Known | undefined
  #index: { readonly of: readonly Tool[]; readonly tools: ReadonlyMap<string, Tool> } | undefined
  #noticed = 0
  #loaded = -1
  #loading: Promise<void> | undefined
  /** What the server announced when it was met, as long as nothing can have changed since. */
  #announced: string | undefined
  #isMute = false
  #isDoubted = false

  constructor(options: KnownToolsOptions) {
    this.#options = options
  }

  /** A link to the server was made: what it announced holds for a moment, and what was known before may not. */
  met({ agreement: { capabilities }, isResumed }: Link): void {
    this.#announced = isResumed ? undefined : announcedIdentity(capabilities)
    this.#isMute = !knowsIdentity(capabilities)
    if (this.#known !== undefined) this.#noticed++
  }

  /** The list may have changed. */
  notice(): void {
    this.#announced = undefined
    this.#noticed++
  }

  /** Something was asked of the server that may change the list. */
  touched(): void {
    this.#announced = undefined
  }

  /** What was last known, however long ago. */
  get latest(): readonly Tool[] | undefined {
    return this.#known?.tools
  }

  /** One of those, by its name. */
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
    const { hears, clock } = this.#options
    if (this.#known === undefined || this.#loaded < this.#noticed) return false
    return (hears() && this.#known.isHeard) || clock.wallTime() < this.#known.freshUntil
  }

  /** The tools as they are now. */
  async now(): Promise<readonly Tool[]> {
    // One that is being read may be older than what made somebody ask; the first is news to everybody.
    if (this.#known !== undefined && this.#loading !== undefined) await this.#loading.catch(() => undefined)
    if (!this.isFresh) await this.#load()
    for (let again = 0; again < impatience && this.#loaded < this.#noticed; again++) await this.#load()
    return this.#known?.tools ?? []
  }

  /** Reads the list once, whatever is known: an identity may leave parts of a tool out, and some servers get theirs wrong. */
  async refresh(signal?: AbortSignal): Promise<readonly Tool[]> {
    while (this.#loading !== undefined) await this.#loading.catch(() => undefined)
    this.notice()
    await this.#load((at) => this.#relist(at, signal))
    return this.#known?.tools ?? []
  }

  /** What the server says of the list it would give now; `undefined` for one that does not say. */
  async ask(params: Record<string, unknown> = {}): Promise<Identity | undefined> {
    if (this.#isMute) return undefined
    const { use, timeoutMs } = this.#options
    try {
      const answer = await use((link) =>
        link.request(discovery.methods.identity, params, { what: `Asking ${link.label} for its identity`, timeout: timeoutMs }),
      )
      return parseIdentity(answer)
    } catch (error) {
      if (!isUnknownMethod(error)) throw error
      this.#isMute = true
      return undefined
    }
  }

  #load(read = (at: number): Promise<void> => this.#read(at)): Promise<void> {
    this.#loading ??= read(this.#noticed).finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #relist(at: number, signal: AbortSignal | undefined): Promise<void> {
    const isHeard = this.#options.hears()
    this.#known = { ...(await this.#listed(undefined, signal)), isHeard }
    this.#loaded = at
  }

  async #read(at: number): Promise<void> {
    const isHeard = this.#options.hears()
    const claim = await this.#claim()
    const kept = this.#unchanged(claim) ?? (await this.#cached(claim)) ?? (await this.#updated(claim))
    this.#known = { ...(kept ?? (await this.#listed(claim))), isHeard }
    this.#loaded = at
  }

  async #claim(): Promise<string | undefined> {
    const announced = this.#announced
    this.#announced = undefined
    return announced ?? (await this.ask())?.server_id
  }

  #unchanged(claim: string | undefined): Known | undefined {
    return this.#known !== undefined && sameIdentity(claim, this.#known.identity) ? this.#known : undefined
  }

  /** What was kept by an earlier connection, if it is good. */
  async #cached(claim: string | undefined): Promise<Known | undefined> {
    const { clock, use, onWarning, expectIdentity } = this.#options
    if (this.#known !== undefined) return undefined
    const entry = await this.#options.cached
    if (entry === undefined) return undefined
    const { tools: all, identity, freshUntil = 0 } = entry
    const isGood = claim === undefined ? clock.wallTime() < freshUntil : sameIdentity(claim, identity)
    if (!isGood || (expectIdentity !== undefined && !isIdentityOf(expectIdentity, all))) return undefined
    const tools = await use(async (link) => usableTools(all, link, onWarning))
    return { tools, all, identity, freshUntil, isHeard: false }
  }

  /** What is known with what has changed since, where the server can tell that. */
  async #updated(claim: string | undefined): Promise<Known | undefined> {
    const known = this.#known
    if (claim === undefined || known?.identity === undefined) return undefined
    const { use, timeoutMs, onWarning } = this.#options
    const since = known.identity
    const delta = await use((link) =>
      link.request(discovery.methods.changes, { since }, { what: `Asking ${link.label} for changes`, timeout: timeoutMs }),
    ).then(parseDelta, (error: unknown) => {
      if (isUnknownMethod(error)) return undefined
      throw error
    })
    const all = delta === undefined ? undefined : applied(known.all, delta)
    if (delta === undefined || all === undefined) return undefined
    this.#expect(all)
    const tools = await use(async (link) => usableTools(all, link, onWarning))
    return this.#kept({ tools, all, identity: delta.identity, freshUntil: 0, isHeard: false })
  }

  async #listed(claim: string | undefined, signal?: AbortSignal): Promise<Known> {
    const { use, timeoutMs, maxBytes, onWarning, clock } = this.#options
    const listed = await use((link) => listAll(link, { timeoutMs, maxBytes, onWarning, signal }))
    const { tools, all, identity: stated, ttlMs = 0 } = listed
    const identity = stated ?? (await this.#named(claim, all))
    if (identity !== undefined && !isIdentityOf(identity, all)) this.#doubt(identity)
    this.#expect(all)
    const freshUntil = ttlMs > 0 ? clock.wallTime() + Math.min(ttlMs, longestTtlMs) : 0
    return this.#kept({ tools, all, identity, freshUntil, isHeard: false })
  }

  /** Whether what the server said before the list was about this list: only then may the list be known by it. */
  async #named(claim: string | undefined, all: readonly Tool[]): Promise<string | undefined> {
    if (claim === undefined || isIdentityOf(claim, all)) return claim
    return sameIdentity((await this.ask())?.server_id, claim) ? claim : undefined
  }

  #doubt(identity: string): void {
    if (this.#isDoubted) return
    this.#isDoubted = true
    this.#options.onWarning(`The server says that its tools have the identity ${identity}, and they do not.`)
  }

  /** What counts is what the tools are, not what the server says of them. */
  #expect(all: readonly Tool[]): void {
    const { expectIdentity: expected } = this.#options
    if (expected === undefined || isIdentityOf(expected, all)) return
    const actual = identityOfTools(all)
    throw new ClientError(
      'identity_mismatch',
      `The tools are not those you expect: they have the identity ${actual ?? 'unknown'}, not ${expected}. ` +
        'Look at what has changed before you go on, and expect the new one if it is right.',
      { expected, actual },
    )
  }

  async #kept(known: Known): Promise<Known> {
    const { cache, key, clock, use, onWarning } = this.#options
    if (cache === undefined || key === undefined) return known
    const { all: tools, identity, freshUntil } = known
    try {
      const { server, protocolVersion } = await use(async (link) => link.agreement)
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
      onWarning(`The tools could not be kept for the next time: ${wordsOf(error)}`)
    }
    return known
  }
}

/** The first of each name. */
function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  return new Map(tools.toReversed().map((tool) => [tool.name, tool]))
}
