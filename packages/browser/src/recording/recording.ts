import type { RingLimits } from '@unfold-mcp/core'
import { LiveFacts } from '@unfold-mcp/core'
import { Endpoints } from '../api/endpoints.ts'
import { RecordRing } from '../records/record-ring.ts'
import type { Kind, LogEntry, NewRecord, PendingRequest, Recorded, Records, SocketStatus } from '../records/records.ts'
import type { Redactor } from '../redaction/redaction.ts'
import { type Filters, matchesFilters, noFilters } from './filters.ts'

/** Facts for the modes of the tools: the number of records of each kind. */
export type BrowserFacts = {
  readonly [K in 'errors' | 'logs' | 'network' | 'sockets' | 'connections' | 'actions' | 'snapshots' | 'endpoints']: number
}

export type Limits = { readonly [K in Kind]: Required<RingLimits> }

const kilobyte = 1024
const megabyte = 1024 * kilobyte

/** Default buffer limits. */
export const defaultLimits: Limits = {
  logs: { entries: 1_000, bytes: 4 * megabyte },
  network: { entries: 300, bytes: 32 * megabyte },
  sockets: { entries: 500, bytes: 8 * megabyte },
  actions: { entries: 1_000, bytes: 4 * megabyte },
  snapshots: { entries: 100, bytes: megabyte },
  audits: { entries: 10, bytes: 8 * megabyte },
}

const maxOpenSockets = 20
const maxClosedSockets = 10
const maxPending = 1_000

export interface RecordingOptions {
  readonly redactor: Redactor
  readonly limits?: Partial<Limits>
}

/** Redacted records of everything observed in the browser, in bounded buffers. */
export class Recording {
  readonly facts = new LiveFacts<BrowserFacts>({
    errors: 0,
    logs: 0,
    network: 0,
    sockets: 0,
    connections: 0,
    actions: 0,
    snapshots: 0,
    endpoints: 0,
  })
  readonly redactor: Redactor
  /** @internal */
  readonly endpoints = new Endpoints()
  filters: Filters = noFilters
  /** Number of records rejected by the filters. */
  filtered = 0
  readonly #rings: { readonly [K in Kind]: RecordRing<Records[K]> }
  readonly #connections = new Map<string, SocketStatus>()
  readonly #pending = new Map<string, PendingRequest>()
  #seq = 0
  #errors = 0

  constructor({ redactor, limits = {} }: RecordingOptions) {
    this.redactor = redactor
    const all = { ...defaultLimits, ...limits }
    this.#rings = {
      logs: new RecordRing<Records['logs']>(all.logs, sizeOf, (entry) => this.#uncount(entry)),
      network: new RecordRing<Records['network']>(all.network, sizeOf),
      sockets: new RecordRing<Records['sockets']>(all.sockets, sizeOf),
      actions: new RecordRing<Records['actions']>(all.actions, sizeOf),
      snapshots: new RecordRing<Records['snapshots']>(all.snapshots, sizeOf),
      audits: new RecordRing<Records['audits']>(all.audits, sizeOf),
    }
  }

  /** Sequence number of the newest record. */
  get seq(): number {
    return this.#seq
  }

  of<K extends Kind>(kind: K): RecordRing<Records[K]> {
    return this.#rings[kind]
  }

  /** Redacts and stores a record, and assigns its sequence number; `undefined` if the filters reject it. */
  add<K extends Kind>(kind: K, given: NewRecord<Records[K]>): Records[K] | undefined {
    if (!matchesFilters(this.filters, kind, given)) {
      this.filtered += 1
      return undefined
    }
    const clean = this.redactor.record(kind, given)
    const record = { seq: ++this.#seq, ...clean } as unknown as Records[K]
    this.#rings[kind].push(record)
    if (kind === 'logs' && (record as LogEntry).level === 'error') this.#errors += 1
    if (kind === 'network') this.endpoints.observe(record as Records['network'])
    this.#count()
    return record
  }

  /** WebSocket states, open ones first. */
  connections(): readonly SocketStatus[] {
    return [...this.#connections.values()].toSorted((a, b) => Number(a.state === 'closed') - Number(b.state === 'closed'))
  }

  /** Updates the state of a WebSocket. The oldest are dropped above the limit. */
  connection(status: SocketStatus): void {
    this.#connections.set(status.id, this.redactor.connection(status))
    for (const [closed, max] of [
      [false, maxOpenSockets],
      [true, maxClosedSockets],
    ] as const) {
      const same = [...this.#connections.values()].filter(({ state }) => (state === 'closed') === closed)
      for (const { id } of same.slice(0, Math.max(0, same.length - max))) this.#connections.delete(id)
    }
    this.#count()
  }

  pending(): readonly PendingRequest[] {
    return [...this.#pending.values()]
  }

  /** Sets a pending request; `undefined` when it has completed. */
  setPending(id: string, request: PendingRequest | undefined): void {
    if (request === undefined) this.#pending.delete(id)
    else if (this.#pending.size < maxPending) this.#pending.set(id, this.redactor.pending(request))
  }

  /** Clears these kinds, or all. Open WebSockets are kept, because more events will follow. */
  clear(which: readonly Kind[] = Object.keys(this.#rings) as Kind[]): void {
    for (const kind of which) this.#rings[kind].clear()
    if (which.includes('sockets'))
      for (const { id, state } of this.connections()) if (state === 'closed') this.#connections.delete(id)
    if (which.includes('network')) this.endpoints.clear()
    this.#count()
  }

  /** Replaces everything with a saved session; new records are numbered after it. */
  restore(records: { readonly [K in Kind]: readonly Records[K][] }, connections: readonly SocketStatus[]): void {
    this.clear()
    this.#connections.clear()
    for (const kind of Object.keys(this.#rings) as Kind[]) for (const record of records[kind]) this.#restored(kind, record)
    for (const status of connections) this.#connections.set(status.id, status)
    this.#count()
  }

  /** Applies the current redaction rules to stored records. */
  redactAgain(): void {
    for (const kind of Object.keys(this.#rings) as Kind[]) this.#redactRing(kind, this.#rings[kind] as RecordRing<Records[Kind]>)
    for (const [id, status] of this.#connections) this.#connections.set(id, this.redactor.connection(status))
    for (const [id, request] of this.#pending) this.#pending.set(id, this.redactor.pending(request))
    this.#count()
  }

  /** Changes the limits. */
  limit(limits: Partial<Limits>): void {
    for (const [kind, each] of Object.entries(limits) as [Kind, Required<RingLimits>][]) this.#rings[kind].limit(each)
    this.#count()
  }

  #redactRing<K extends Kind>(kind: K, ring: RecordRing<Records[K]>): void {
    ring.replace((record) => ({ ...this.redactor.record(kind, record), seq: record.seq }) as unknown as Records[K])
  }

  #restored<K extends Kind>(kind: K, record: Records[K]): void {
    this.#seq = Math.max(this.#seq, record.seq)
    this.#rings[kind].push(record)
    if (kind === 'logs' && (record as LogEntry).level === 'error') this.#errors += 1
    if (kind === 'network') this.endpoints.observe(record as Records['network'])
  }

  #uncount(entry: LogEntry): void {
    if (entry.level === 'error') this.#errors -= 1
  }

  #count(): void {
    this.facts.set({
      errors: this.#errors,
      logs: this.#rings.logs.length,
      network: this.#rings.network.length,
      sockets: this.#rings.sockets.length,
      connections: this.#connections.size,
      actions: this.#rings.actions.length,
      snapshots: this.#rings.snapshots.length,
      endpoints: this.endpoints.size,
    })
  }
}

/** Estimates the memory of a record. */
export function sizeOf(record: Recorded): number {
  return 64 + weigh(record)
}

function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length * 2 + 16
  if (typeof value !== 'object' || value === null) return 8
  let sum = 16
  for (const each of Array.isArray(value) ? value : Object.values(value)) sum += weigh(each)
  return sum
}
