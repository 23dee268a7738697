import type { Clock } from '@unfold-mcp/client'
import { canonicalJson } from '@unfold-mcp/core'
import { errorMessage } from '../base/error-message.ts'
import type { Log } from '../base/log.ts'
import type { Finding } from '../poisoning/finding.ts'
import { acceptsBaseline, type Change, decide, type TrustSetting } from './decide.ts'
import { digestsOf } from './digest.ts'
import { hazardsOf } from './hazards.ts'
import {
  accept,
  block,
  emptyRecord,
  type Item,
  type ItemKind,
  RecordIndex,
  type ServerRecord,
  setBaseline,
} from './records/record.ts'
import type { TrustStore } from './records/store.ts'
import { type Reviewable, reviewables } from './reviewable.ts'
import { type Run, type RunDifference, runDifferences } from './run.ts'

export interface TrustGateOptions {
  readonly settingOf: (server: string) => TrustSetting
  /** `undefined` if the decisions cannot be read; then nothing counts as accepted. */
  readonly store: TrustStore | undefined
  /** Called when other definitions of a server may be served than before. */
  readonly changed: (server: string) => void
  /** Called with decisions, and with new and changed definitions, each once. */
  readonly onChange: (event: TrustEvent) => void
  /** Findings that need the tools of other servers. */
  readonly crossServer: (server: string, item: Item) => readonly Finding[]
  readonly clock: Clock
  readonly log: Log
}

/** Something that changed what is trusted, or that needs attention. */
export type TrustEvent =
  | {
      readonly server: string
      /** `baseline`: the first list; `served`, `held`: new or changed definitions; `approved`, `blocked`: decisions of a person. */
      readonly outcome: 'baseline' | 'served' | 'held' | 'approved' | 'blocked'
      readonly changes: readonly Change[]
      /** Who decided. */
      readonly by?: string | undefined
    }
  | { readonly server: string; readonly outcome: 'run'; readonly differences: readonly RunDifference[] }

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
  /** Digests of served or held changes that were reported. */
  readonly reported: Set<string>
  readonly pendingBaselines: Set<ItemKind>
}

type DecisionChange = (record: ServerRecord, items: readonly Item[], at: number) => ServerRecord

interface PersonDecision {
  readonly change: DecisionChange
  readonly outcome: 'approved' | 'blocked'
  readonly by: string | undefined
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
      void this.#record(server, true, (record) =>
        accept(
          record,
          changes.map(({ item }) => item),
          'watch',
          this.#options.clock.wallTime(),
        ),
      )
    if (kind !== 'instructions' && this.isHeld(server)) return []
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
    if (missing.length > 0) void this.#record(server, true, (record) => setBaseline(record, missing))
  }

  /** True if nothing of a server is served, because of its instructions. */
  isHeld(server: string): boolean {
    const state = this.#servers.get(server)
    return state !== undefined && this.#options.settingOf(server) !== 'off' && hasHeldInstructions(state)
  }

  /** True if a definition was accepted: with the first list, by the setting, or by a person. */
  isAccepted(server: string, item: Item): boolean {
    const state = this.#servers.get(server)
    return state !== undefined && !state.isUnknown && this.#options.settingOf(server) !== 'off' && state.index.isAccepted(item)
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
  approve(server: string, digests: ReadonlySet<string>, by?: string): Promise<number> {
    const change: DecisionChange = (record, items, at) => accept(record, items, 'person', at)
    return this.#decide(server, digests, { change, outcome: 'approved', by })
  }

  /** Blocks reviewable definitions, under any name. Resolves with the number of them, once the decision is on disk. */
  block(server: string, digests: ReadonlySet<string>, by?: string): Promise<number> {
    return this.#decide(server, digests, { change: block, outcome: 'blocked', by })
  }

  /** Records what was started or contacted for a server. A difference is reported, never held. */
  ran(server: string, run: Run): void {
    const state = this.#servers.get(server)
    if (state === undefined || state.isUnknown || this.#options.settingOf(server) === 'off') return
    const known = state.index.record.run ?? {}
    const next = { ...known, ...run }
    if (canonicalJson(next) === canonicalJson(known)) return
    void this.#record(server, true, (record) => ({ ...record, run: { ...record.run, ...run } }))
    const differences = runDifferences(known, run)
    if (differences.length > 0) this.#options.onChange({ server, outcome: 'run', differences })
  }

  /** Waits for decisions that are being written. */
  async saved(): Promise<void> {
    await Promise.all(this.#saving)
  }

  /** Waits for decisions that are being written. The caller closes the store. */
  async close(): Promise<void> {
    this.#unwatch()
    await this.saved()
  }

  async #decide(server: string, digests: ReadonlySet<string>, { change, outcome, by }: PersonDecision): Promise<number> {
    const { store, clock, onChange } = this.#options
    const changes = this.reviewables(server).filter(({ digest }) => digests.has(digest))
    if (changes.length === 0) return 0
    if (store === undefined) throw new Error('The trust decisions cannot be written.')
    const items = changes.map(({ item }) => item)
    this.#use(server, await store.update(server, (record) => change(record, items, clock.wallTime())))
    onChange({ server, outcome, changes, by })
    return items.length
  }

  async #load(server: string): Promise<void> {
    const state: ServerState = {
      index: new RecordIndex(emptyRecord),
      isUnknown: true,
      held: new Map(),
      blocked: new Map(),
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
    // Under "watch" the list is served already.
    const isServed = this.#options.settingOf(server) === 'watch'
    const saved = this.#record(server, isServed, (record) =>
      record.baseline.includes(kind) ? record : setBaseline(accept(record, items, 'baseline', clock.wallTime()), [kind]),
    )
    void saved.finally(() => state.pendingBaselines.delete(kind))
    const changes = items.map((item) => ({ item, previous: undefined, hazards: [] }))
    this.#options.onChange({ server, outcome: 'baseline', changes })
  }

  /** Stores a change of the record. Unless what it accepts is served already, it is served once the record is on disk. */
  #record(server: string, isServed: boolean, change: (record: ServerRecord) => ServerRecord): Promise<void> {
    const { store, log } = this.#options
    const saving = (async () => {
      try {
        if (store !== undefined) this.#use(server, await store.update(server, change), isServed)
      } catch (error) {
        log.error({ upstream: server }, `trust decisions cannot be written: ${errorMessage(error)}`)
      }
    })()
    this.#saving.add(saving)
    void saving.finally(() => this.#saving.delete(saving))
    return saving
  }

  #use(server: string, record: ServerRecord, isServed = false): void {
    const state = this.#servers.get(server)
    if (state === undefined) return
    state.index = new RecordIndex(record)
    state.isUnknown = false
    if (!isServed) this.#options.changed(server)
  }

  /** Reports each change once; returns those that were not reported before. */
  #report(server: string, { reported }: ServerState, changes: readonly Change[], outcome: 'served' | 'held'): readonly Change[] {
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

/** Instructions apply to the whole server, so it is held with them. */
const hasHeldInstructions = ({ held }: ServerState): boolean => (held.get('instructions') ?? []).length > 0

const allKinds: readonly ItemKind[] = ['tool', 'prompt', 'template', 'instructions']
