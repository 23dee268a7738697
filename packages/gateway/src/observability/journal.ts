import { Ring } from '@unfold-mcp/core'
import type { LogLevel } from '../base/log.ts'

/** A log line, redacted. */
export interface LogRecord {
  readonly level: LogLevel
  readonly message: string
  readonly upstream?: string
  readonly data: object
}

/** A change of the tools of a server. */
export interface ChangeRecord {
  readonly upstream: string
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly reads: number
  readonly ms: number
  /** Names of the first few tools. */
  readonly names: { readonly added: readonly string[]; readonly changed: readonly string[]; readonly removed: readonly string[] }
}

/** A tool call, without arguments and result. */
export interface CallRecord {
  readonly client: string
  readonly upstream: string
  readonly tool: string
  readonly ms: number
  readonly outcome: string
  /** The rule of the policy that denied it, such as `policy.rules[2]`. */
  readonly rule?: string
  /** Approximate sizes. */
  readonly sentCharacters: number
  readonly receivedCharacters: number
  /** What it waited for, with milliseconds since its start; absent if it was sent at once and asked nothing. */
  readonly steps?: readonly { readonly step: string; readonly ms: number }[]
  /** The client was asked for input; the call that answers has the same value in `continues`. */
  readonly asked?: string
  readonly continues?: string
}

export interface Records {
  log: LogRecord
  change: ChangeRecord
  call: CallRecord
  state: {
    readonly upstream: string
    readonly state: string
    readonly error?: string
    readonly attempt?: number
    readonly retryInMs?: number
  }
  stderr: { readonly upstream: string; readonly line: string }
  /** New or changed definitions of a server, decisions about them, and servers that run something else than before. */
  trust: {
    readonly upstream: string
    readonly outcome: 'baseline' | 'served' | 'held' | 'approved' | 'blocked' | 'run'
    readonly count: number
    readonly names: readonly string[]
    /** Rules that classify them as hazardous. */
    readonly rules: readonly string[]
  }
  /** A result with secrets or text that addresses the model. */
  finding: {
    readonly upstream: string
    readonly tool: string
    readonly action: 'flagged' | 'masked' | 'blocked'
    readonly rules: readonly string[]
  }
  /** The configuration file was read again. */
  config: {
    readonly isApplied: boolean
    /** Edits that wait for approval. */
    readonly waiting?: readonly string[]
  }
  /** The gateway is shutting down. */
  drain: { readonly withinMs: number }
}

export type RecordType = keyof Records

/** An event; `id` increases with every entry. */
export interface JournalEntry<T extends RecordType = RecordType> {
  readonly id: number
  readonly at: string
  readonly type: T
  readonly data: Records[T]
}

export const recordTypes: readonly RecordType[] = [
  'log',
  'change',
  'call',
  'state',
  'stderr',
  'trust',
  'finding',
  'config',
  'drain',
]

// Separate rings, so that frequent events do not evict rare ones.
const sizes = {
  debug: 1_000,
  log: 1_000,
  change: 500,
  call: 1_000,
  state: 500,
  trust: 500,
  finding: 500,
  config: 50,
  drain: 2,
} as const
// A ring per server, so that a noisy server does not evict the output of another.
const stderrLines = 200
const maxServers = 1_000

type RingName = keyof typeof sizes

const ringNameOf = (type: Exclude<RecordType, 'stderr'>, data: Records[RecordType]): RingName =>
  type === 'log' && 'level' in data && data.level === 'debug' ? 'debug' : type

/** Recent events, bounded. Writers redact secrets before writing. */
export class Journal {
  readonly #rings = Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [name, new Ring<JournalEntry>({ entries: size })]),
  ) as {
    readonly [S in RingName]: Ring<JournalEntry>
  }
  readonly #stderr = new Map<string, Ring<JournalEntry>>()
  readonly #listeners = new Set<(entry: JournalEntry) => void>()
  #last = 0
  #ms = 0
  #at = ''

  write<T extends RecordType>(type: T, data: Records[T]): void {
    const entry: JournalEntry<T> = { id: ++this.#last, at: this.#timestamp(), type, data }
    this.#ringFor(type, data).push(entry)
    for (const listener of this.#listeners) listener(entry)
  }

  /** Returns the last matching entries of one type, oldest first. */
  last<T extends RecordType>(
    type: T,
    limit: number,
    matches: (data: Records[T]) => boolean = () => true,
  ): readonly JournalEntry<T>[] {
    const entries = this.#entries(type, limit, ({ data }) => matches(data as Records[T]))
    return entries.filter((entry): entry is JournalEntry<T> => entry.type === type).slice(-limit)
  }

  /** Returns the stored entries after an id, in order. */
  after(id: number, types: ReadonlySet<RecordType>): readonly JournalEntry[] {
    return inOrder([...types].flatMap((type) => this.#entries(type, Number.POSITIVE_INFINITY, (entry) => entry.id > id)))
  }

  subscribe(listener: (entry: JournalEntry) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  // Formatted once per millisecond.
  #timestamp(): string {
    const ms = Date.now()
    if (ms !== this.#ms) this.#at = new Date(ms).toISOString()
    this.#ms = ms
    return this.#at
  }

  #entries(type: RecordType, limit: number, matches: (entry: JournalEntry) => boolean): readonly JournalEntry[] {
    return inOrder(this.#ringsOf(type).flatMap((ring) => ring.last(limit, matches)))
  }

  #ringsOf(type: RecordType): readonly Ring<JournalEntry>[] {
    if (type === 'stderr') return [...this.#stderr.values()]
    return type === 'log' ? [this.#rings.log, this.#rings.debug] : [this.#rings[type]]
  }

  #ringFor(type: RecordType, data: Records[RecordType]): Ring<JournalEntry> {
    if (type !== 'stderr') return this.#rings[ringNameOf(type, data)]
    const upstream = 'upstream' in data ? (data.upstream ?? '') : ''
    const ring = this.#stderr.get(upstream) ?? new Ring<JournalEntry>({ entries: stderrLines })
    // Reinserted, so that the least recently active server comes first.
    this.#stderr.delete(upstream)
    this.#stderr.set(upstream, ring)
    const [oldest] = this.#stderr.keys()
    if (this.#stderr.size > maxServers && oldest !== undefined) this.#stderr.delete(oldest)
    return ring
  }
}

const inOrder = (entries: readonly JournalEntry[]): readonly JournalEntry[] => entries.toSorted((a, b) => a.id - b.id)
