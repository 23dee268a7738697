import { connectionKeyOf, labelOf, type Target } from './config/target.ts'
import { type ConnectOptions, connect } from './connect.ts'
import type { Connection } from './connection.ts'
import { ClientError } from './errors/errors.ts'
import type { ResumableSession } from './session/handshake.ts'
import type { Agreement } from './session/session.ts'
import { type Clock, systemClock } from './time/clock.ts'
import { withDeadline } from './time/deadline.ts'

/** Options shared by all users of a pooled connection. */
export interface PoolOptions
  extends Omit<ConnectOptions, 'name' | 'credential' | 'view' | 'session' | 'signal' | 'expectIdentity'> {
  /** How long an unused connection stays open. Default: 60 000. */
  readonly idleMs?: number
  /** Maximum number of unused connections. Default: 20. */
  readonly maxIdle?: number
}

/** Options that select the connection to share. */
export type AcquireOptions = Pick<ConnectOptions, 'name' | 'credential' | 'view' | 'session' | 'signal'>

/** Shared use of a connection. Release the lease; do not close the connection. */
export interface Lease extends AsyncDisposable {
  readonly connection: Connection
  release(): void
}

/** Session held by a pool. */
export interface PooledSession extends ResumableSession {
  /** Label of the server. */
  readonly target: string
  readonly agreement: Agreement
  /** Number of current leases. */
  readonly users: number
}

interface Entry {
  readonly key: string
  readonly label: string
  readonly connecting: Promise<Connection>
  connection: Connection | undefined
  users: number
  idleSince: number
  stopTimer: () => void
}

const defaultIdleMs = 60_000
const defaultMaxIdle = 20
// The entry has its own timeout; a caller can only cancel. This is the longest delay a timer accepts.
const noTimeoutMs = 2 ** 31 - 1

/** Shares one connection per server, credential and view, and closes it after a time without use. */
export class Pool implements AsyncDisposable {
  readonly #options: PoolOptions
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  #isClosed = false

  constructor(options: PoolOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Number of connections. */
  get size(): number {
    return this.#entries.size
  }

  /** Leases the connection to a server, and opens it first if necessary. */
  async acquire(target: Target, use: AcquireOptions = {}): Promise<Lease> {
    if (this.#isClosed)
      throw new ClientError('unreachable', 'The pool is closed. Create another one.', { target: labelOf(target) })
    const key = connectionKeyOf(target, use)
    const entry = this.#usable(key) ?? this.#open(key, target, use)
    entry.users++
    entry.stopTimer()
    try {
      // A caller that cancels leaves; the others keep waiting.
      const connection = await withDeadline(entry.connecting, {
        what: `Connecting to ${entry.label}`,
        hint: '',
        timeoutMs: noTimeoutMs,
        signal: use.signal,
        clock: systemClock,
      })
      return this.#lease(entry, connection)
    } catch (error) {
      this.#release(entry)
      throw error
    }
  }

  /** Runs `work` with a leased connection. */
  async use<T>(target: Target, work: (connection: Connection) => Promise<T>, use: AcquireOptions = {}): Promise<T> {
    const lease = await this.acquire(target, use)
    try {
      return await work(lease.connection)
    } finally {
      lease.release()
    }
  }

  /** Lists the sessions that can be resumed. */
  sessions(): readonly PooledSession[] {
    return [...this.#entries.values()].flatMap(({ connection, label, users }) => {
      const { session } = connection ?? {}
      return session === undefined ? [] : [{ ...session, target: label, users }]
    })
  }

  /** Ends a session, also on the server. Returns whether the pool held it. */
  async closeSession(id: string): Promise<boolean> {
    for (const entry of this.#entries.values()) {
      if (entry.connection?.session?.id !== id) continue
      this.#entries.delete(entry.key)
      entry.stopTimer()
      await entry.connection.close()
      return true
    }
    return false
  }

  /** Closes every connection, leased or not. */
  async close(): Promise<void> {
    this.#isClosed = true
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(
      entries.map(async ({ connecting, stopTimer }) => {
        stopTimer()
        const connection = await connecting.catch(() => undefined)
        await connection?.close()
      }),
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #usable(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    return entry?.connection?.isClosed === true ? undefined : entry
  }

  #open(key: string, target: Target, { name, credential, view, session }: AcquireOptions): Entry {
    const connecting = connect(target, {
      ...this.#options,
      ...(name !== undefined && { name }),
      ...(credential !== undefined && { credential }),
      ...(view !== undefined && { view }),
      ...(session !== undefined && { session }),
    })
    const entry: Entry = {
      key,
      label: labelOf(target),
      connecting,
      connection: undefined,
      users: 0,
      idleSince: this.#clock.now(),
      stopTimer: () => undefined,
    }
    this.#entries.set(key, entry)
    void this.#track(entry)
    return entry
  }

  async #track(entry: Entry): Promise<void> {
    try {
      entry.connection = await entry.connecting
      entry.connection.onClose(() => this.#forget(entry))
    } catch {
      this.#forget(entry)
    }
  }

  #forget(entry: Entry): void {
    entry.stopTimer()
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key)
  }

  #lease(entry: Entry, connection: Connection): Lease {
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      this.#release(entry)
    }
    return { connection, release, [Symbol.asyncDispose]: async () => release() }
  }

  #release(entry: Entry): void {
    entry.users--
    if (entry.users > 0 || this.#entries.get(entry.key) !== entry) return
    const { idleMs = defaultIdleMs, maxIdle = defaultMaxIdle } = this.#options
    entry.idleSince = this.#clock.now()
    entry.stopTimer = this.#clock.after(idleMs, () => this.#evict(entry), true)
    const idle = [...this.#entries.values()].filter(({ users }) => users === 0).sort((a, b) => b.idleSince - a.idleSince)
    for (const surplus of idle.slice(maxIdle)) this.#evict(surplus)
  }

  #evict(entry: Entry): void {
    this.#forget(entry)
    void entry.connecting.then((connection) => connection.close()).catch(() => undefined)
  }
}
