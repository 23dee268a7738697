import { Ring } from '@unfold-mcp/core'
import type { LogLevel } from '../base/log.ts'

/** A line of the log, as it was told. */
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
  /** The server's own names of the tools, not more than a few. */
  readonly names: { readonly added: readonly string[]; readonly changed: readonly string[]; readonly removed: readonly string[] }
}

/** A call of a tool: who, what, and how it went; not with what, and not what came back. */
export interface CallRecord {
  readonly client: string
  readonly upstream: string
  readonly tool: string
  readonly ms: number
  readonly outcome: string
  /** About how much was sent and came back. */
  readonly sentCharacters: number
  readonly receivedCharacters: number
}

/** A line that a server wrote to standard error. */
interface StderrRecord {
  readonly upstream: string
  readonly line: string
}

export interface Records {
  log: LogRecord
  change: ChangeRecord
  call: CallRecord
  /** A server is in another state. */
  state: {
    readonly upstream: string
    readonly state: string
    readonly error?: string
    readonly attempt?: number
    readonly retryInMs?: number
  }
  /** A server wrote a line to standard error. */
  stderr: StderrRecord
  /** The configuration file was read again. */
  config: { readonly isApplied: boolean }
  /** The gateway ends. */
  drain: { readonly withinMs: number }
}

export type RecordType = keyof Records

/** Something that happened, with its place in the order of all. */
export interface JournalEntry<T extends RecordType = RecordType> {
  readonly id: number
  readonly at: string
  readonly type: T
  readonly data: Records[T]
}

export const recordTypes: readonly RecordType[] = ['log', 'change', 'call', 'state', 'stderr', 'config', 'drain']

// What servers write all the time must not push out what happens seldom.
const sizes = { debug: 1_000, log: 1_000, change: 500, call: 1_000, state: 500, config: 50, drain: 2 } as const
// Nor may a server that writes all the time push out what another wrote before it ended.
const stderrLines = 200
const maxServers = 1_000

type RingName = keyof typeof sizes

const ringNameOf = (type: Exclude<RecordType, 'stderr'>, data: Records[RecordType]): RingName =>
  type === 'log' && 'level' in data && data.level === 'debug' ? 'debug' : type

/** What happened lately. Bounded; nothing in it is secret, because whoever writes it takes that out. */
export class Journal {
  readonly #rings = Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [name, new Ring<JournalEntry>({ entries: size })]),
  ) as {
    readonly [S in RingName]: Ring<JournalEntry>
  }
  /** What each server wrote to standard error. */
  readonly #stderr = new Map<string, Ring<JournalEntry>>()
  readonly #listeners = new Set<(entry: JournalEntry) => void>()
  #last = 0
  #ms = 0
  #at = ''

  write<T extends RecordType>(type: T, data: Records[T]): void {
    const entry: JournalEntry<T> = { id: ++this.#last, at: this.#time(), type, data }
    this.#ringFor(type, data).push(entry)
    for (const listener of this.#listeners) listener(entry)
  }

  /** The last entries of one kind that match, the latest at the end. */
  last<T extends RecordType>(
    type: T,
    limit: number,
    matches: (data: Records[T]) => boolean = () => true,
  ): readonly JournalEntry<T>[] {
    const found = this.#found(type, limit, ({ data }) => matches(data as Records[T]))
    return found.filter((entry): entry is JournalEntry<T> => entry.type === type).slice(-limit)
  }

  /** All that is still known and came after the entry of this number, in order. */
  after(id: number, types: ReadonlySet<RecordType>): readonly JournalEntry[] {
    return inOrder([...types].flatMap((type) => this.#found(type, Number.POSITIVE_INFINITY, (entry) => entry.id > id)))
  }

  subscribe(listener: (entry: JournalEntry) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The time as text, made once for all that is written in one moment. */
  #time(): string {
    const ms = Date.now()
    if (ms !== this.#ms) this.#at = new Date(ms).toISOString()
    this.#ms = ms
    return this.#at
  }

  #found(type: RecordType, limit: number, matches: (entry: JournalEntry) => boolean): readonly JournalEntry[] {
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
    // The one that wrote last is the last to be forgotten.
    this.#stderr.delete(upstream)
    this.#stderr.set(upstream, ring)
    const [oldest] = this.#stderr.keys()
    if (this.#stderr.size > maxServers && oldest !== undefined) this.#stderr.delete(oldest)
    return ring
  }
}

const inOrder = (entries: readonly JournalEntry[]): readonly JournalEntry[] => entries.toSorted((a, b) => a.id - b.id)
