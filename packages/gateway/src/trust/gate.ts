import type { Clock } from '@unfold-mcp/client'
import { errorMessage } from '../base/error-message.ts'
import type { Log } from '../base/log.ts'
import type { Finding } from '../poisoning/finding.ts'
import { acceptsBaseline, type Change, decide, type TrustSetting } from './decide.ts'
import { digestsOf } from './digest.ts'
import { hazardsOf } from './hazards.ts'
import { accept, block, emptyRecord, type Item, type ItemKind, RecordIndex, type ServerRecord, setBaseline } from './record.ts'
import { type Reviewable, reviewables } from './reviewable.ts'
import type { TrustStore } from './store.ts'

export interface TrustGateOptions {
  readonly settingOf: (server: string) => TrustSetting
  /** `undefined` if the decisions cannot be read; then nothing counts as accepted. */
  readonly store: TrustStore | undefined
  /** Called when other definitions of a server may be served than before. */
  readonly changed: (server: string) => void
  /** Called with new and changed definitions that are served or held, each once. */
  readonly onChange: (event: TrustEvent) => void
  /** Findings that need the tools of other servers. */
  readonly crossServer: (server: string, item: Item) => readonly Finding[]
  readonly clock: Clock
  readonly log: Log
}

export interface TrustEvent {
  readonly server: string
  readonly outcome: 'served' | 'held'
  readonly changes: readonly Change[]
}

/** A definition that waits for a person. */
export interface HeldItem extends Change {
  readonly server: string
  /** Identifies the definition in `approve` and `block`. */
  readonly digest: string
}

interface ServerState {
  index: RecordIndex
  /** True if the decisions about this server could not be read. */
  isUnknown: boolean
  readonly held: Map<ItemKind, readonly HeldItem[]>
  readonly blocked: Map<ItemKind, readonly Item[]>
  /** Names of held and blocked tools. */
  withheld: ReadonlySet<string>
  /** Digests of served or held changes that were reported. */
  readonly reported: Set<string>
  readonly pendingBaselines: Set<ItemKind>
}

const maxReported = 10_000

/**
 * Decides what clients may see of each server, where the catalogue is built. Nothing downstream asks again, so nothing can forget to.
 */
export class TrustGate {
  readonly #options: TrustGateOptions
  readonly #servers = new Map<string, ServerState>()
  readonly #saving = new Set<Promise<unknown>>()
  readonly #unwatch: () => void

  constructor(options: TrustGateOptions) {
    this.#options = options
    this.#unwatch = options.store?.watch(() => void this.#reload()) ?? (() => undefined)
  }

  /** Reads the decisions about servers that are new. Must be called before their definitions are admitted. */
  async load(servers: readonly string[]): Promise<void> {
    await Promise.all(servers.filter((server) => !this.#servers.has(server)).map((server) => this.#load(server)))
  }

  /** Returns the definitions that clients may see. */
  admit<T extends object>(
    server: string,
    kind: ItemKind,
    definitions: readonly T[],
    nameOf: (definition: T) => string,
  ): readonly T[] {
    const state = this.#servers.get(server)
    const setting = this.#options.settingOf(server)
    if (state === undefined) return setting === 'off' ? definitions : []
    const items = definitions.map((definition) => ({ kind, name: nameOf(definition), definition }))
    if (kind === 'tool') state.withheld = new Set(items.map(({ name }) => name))
    const isBaseline = !state.isUnknown && items.length > 0 && acceptsBaseline(setting, state.index.record, kind)
    if (isBaseline) {
      this.#saveBaseline(server, state, kind, items)
      // What a pinned server offers is served once the pins are on disk: a restart in between must not accept another list.
      if (setting === 'pin') return []
    }
    const { served, held, blocked, changes } = decide(setting, state.index, items, (item, previous) =>
      hazardsOf(item, previous, (each) => this.#options.crossServer(server, each)),
    )
    state.held.set(
      kind,
      held.map((change) => ({ ...change, server, digest: digestsOf(change.item.definition).definition })),
    )
    state.blocked.set(kind, blocked)
    this.#report(server, state, held, 'held')
    // The first list is not a change.
    if (!isBaseline && this.#report(server, state, changes, 'served').length > 0 && setting === 'watch')
      void this.#record(server, (record) =>
        accept(
          record,
          changes.map(({ item }) => item),
          'watch',
          this.#options.clock.wallTime(),
        ),
      )
    if (kind !== 'instructions' && setting !== 'off' && hasHazardousInstructions(state)) return []
    if (kind === 'tool') state.withheld = new Set([...held.map(({ item }) => item), ...blocked].map(({ name }) => name))
    if (held.length + blocked.length === 0) return definitions
    const isServed = new Set(served.map(({ definition }) => definition))
    return definitions.filter((definition) => isServed.has(definition))
  }

  /** Records that a server has sent its first list of these kinds: what it adds later is new. */
  settle(server: string, kinds: readonly ItemKind[]): void {
    const state = this.#servers.get(server)
    const setting = this.#options.settingOf(server)
    if (state === undefined || state.isUnknown || setting === 'off' || setting === 'review') return
    const missing = kinds.filter((kind) => !state.index.record.baseline.includes(kind) && !state.pendingBaselines.has(kind))
    if (missing.length > 0) void this.#record(server, (record) => setBaseline(record, missing))
  }

  /** True if a tool is held or blocked, by its name on the server. */
  isWithheld(server: string, tool: string): boolean {
    return this.#servers.get(server)?.withheld.has(tool) === true
  }

  held(server: string): readonly HeldItem[] {
    return [...(this.#servers.get(server)?.held.values() ?? [])].flat()
  }

  blocked(server: string): readonly Item[] {
    return [...(this.#servers.get(server)?.blocked.values() ?? [])].flat()
  }

  /** True if the decisions about a server could not be read. */
  isUnknown(server: string): boolean {
    return this.#servers.get(server)?.isUnknown === true
  }

  /** What a person may decide about a server. */
  reviewables(server: string): readonly Reviewable[] {
    const state = this.#servers.get(server)
    return state === undefined ? [] : reviewables(state.index.record, { held: this.held(server), blocked: this.blocked(server) })
  }

  /** Accepts reviewable definitions. Resolves with the number of them, once the decision is on disk. */
  approve(server: string, digests: ReadonlySet<string>): Promise<number> {
    return this.#decide(server, digests, (record, items, at) => accept(record, items, 'person', at))
  }

  /** Blocks reviewable definitions, under any name. Resolves with the number of them, once the decision is on disk. */
  block(server: string, digests: ReadonlySet<string>): Promise<number> {
    return this.#decide(server, digests, block)
  }

  /** Waits for decisions that are being written. The caller closes the store. */
  async close(): Promise<void> {
    this.#unwatch()
    await Promise.all(this.#saving)
  }

  async #decide(
    server: string,
    digests: ReadonlySet<string>,
    change: (record: ServerRecord, items: readonly Item[], at: number) => ServerRecord,
  ): Promise<number> {
    const { store, clock } = this.#options
    const items = this.reviewables(server)
      .filter(({ digest }) => digests.has(digest))
      .map(({ item }) => item)
    if (items.length === 0) return 0
    if (store === undefined) throw new Error('The trust decisions cannot be written.')
    this.#use(server, await store.update(server, (record) => change(record, items, clock.wallTime())))
    return items.length
  }

  async #load(server: string): Promise<void> {
    const state: ServerState = {
      index: new RecordIndex(emptyRecord),
      isUnknown: true,
      held: new Map(),
      blocked: new Map(),
      withheld: new Set(),
      reported: new Set(),
      pendingBaselines: new Set(),
    }
    try {
      const record = await this.#options.store?.load(server)
      if (record !== undefined) {
        state.index = new RecordIndex(record)
        state.isUnknown = false
      }
    } catch (error) {
      this.#options.log.error({ upstream: server }, `trust decisions cannot be read: ${errorMessage(error)}`)
    }
    // Without decisions, everything counts as new.
    if (state.isUnknown) state.index = new RecordIndex({ ...emptyRecord, baseline: allKinds })
    this.#servers.set(server, state)
  }

  /** Another process may have made decisions. */
  async #reload(): Promise<void> {
    const { store } = this.#options
    for (const server of this.#servers.keys()) {
      const record = await store?.load(server).catch(() => undefined)
      if (record !== undefined) this.#use(server, record)
    }
  }

  #saveBaseline(server: string, state: ServerState, kind: ItemKind, items: readonly Item[]): void {
    if (state.pendingBaselines.has(kind)) return
    state.pendingBaselines.add(kind)
    const { clock } = this.#options
    const saved = this.#record(server, (record) =>
      record.baseline.includes(kind) ? record : setBaseline(accept(record, items, 'baseline', clock.wallTime()), [kind]),
    )
    void saved.finally(() => state.pendingBaselines.delete(kind))
  }

  /** Stores a change of the record, and serves by it once it is on disk. */
  #record(server: string, change: (record: ServerRecord) => ServerRecord): Promise<void> {
    const { store, log } = this.#options
    const saving = (async () => {
      try {
        if (store !== undefined) this.#use(server, await store.update(server, change))
      } catch (error) {
        log.error({ upstream: server }, `trust decisions cannot be written: ${errorMessage(error)}`)
      }
    })()
    this.#saving.add(saving)
    void saving.finally(() => this.#saving.delete(saving))
    return saving
  }

  #use(server: string, record: ServerRecord): void {
    const state = this.#servers.get(server)
    if (state === undefined) return
    state.index = new RecordIndex(record)
    state.isUnknown = false
    this.#options.changed(server)
  }

  /** Reports each change once; returns those that were not reported before. */
  #report(
    server: string,
    { reported }: ServerState,
    changes: readonly Change[],
    outcome: TrustEvent['outcome'],
  ): readonly Change[] {
    const fresh = changes.filter(({ item: { kind, definition } }) => {
      const id = `${outcome} ${kind} ${digestsOf(definition).definition}`
      if (reported.has(id)) return false
      if (reported.size >= maxReported) reported.clear()
      reported.add(id)
      return true
    })
    if (fresh.length > 0) this.#options.onChange({ server, outcome, changes: fresh })
    return fresh
  }
}

/** Instructions apply to the whole server. */
const hasHazardousInstructions = ({ held }: ServerState): boolean =>
  held.get('instructions')?.some(({ hazards }) => hazards.length > 0) === true

const allKinds: readonly ItemKind[] = ['tool', 'prompt', 'template', 'instructions']
