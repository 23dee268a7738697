import { connectionKeyOf, labelOf, type Target } from './config/target.ts'
import { type ConnectOptions, connect } from './connect.ts'
import type { Connection } from './connection.ts'
import { ClientError } from './errors/errors.ts'
import type { Session } from './session/handshake.ts'
import type { Agreement } from './session/session.ts'
import { type Clock, systemClock } from './time/clock.ts'
import { before } from './time/deadline.ts'

/** What is the same for everybody who shares a connection. */
export interface PoolOptions
  extends Omit<ConnectOptions, 'name' | 'credential' | 'view' | 'session' | 'signal' | 'expectIdentity'> {
  /** How long a connection that nobody uses is kept; a minute by default. */
  readonly idleMs?: number
  /** How many connections are kept that nobody uses; 20 by default. */
  readonly maxIdle?: number
}

/** What makes a connection another one. */
export type PoolUse = Pick<ConnectOptions, 'name' | 'credential' | 'view' | 'session' | 'signal'>

/** A share of a connection. It is given back with `release`, and the connection is not to be closed. */
export interface Lease extends AsyncDisposable {
  readonly connection: Connection
  release(): void
}

/** A session that a pool holds. */
export interface PooledSession extends Session {
  /** What to call the server. */
  readonly target: string
  readonly agreement: Agreement
  /** How many use it now. */
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
const patienceMs = 2 ** 31 - 1

/** One connection for each server, credential and view, shared by all who ask for it and closed when nobody has for a while. */
export class Pool implements AsyncDisposable {
  readonly #options: PoolOptions
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  #isClosed = false

  constructor(options: PoolOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** How many connections there are. */
  get size(): number {
    return this.#entries.size
  }

  /** A share of the connection to this server; it is made when there is none. */
  async acquire(target: Target, use: PoolUse = {}): Promise<Lease> {
    if (this.#isClosed) throw new ClientError('unreachable', 'The pool is closed. Make another one.', { target: labelOf(target) })
    const key = connectionKeyOf(target, use)
    const entry = this.#usable(key) ?? this.#open(key, target, use)
    entry.users++
    entry.stopTimer()
    try {
      const what = `Connecting to ${entry.label}`
      // One who does not want to wait leaves; the others still do.
      const connection = await before(entry.connecting, {
        what,
        hint: '',
        timeoutMs: patienceMs,
        signal: use.signal,
        clock: systemClock,
      })
      return this.#lease(entry, connection)
    } catch (error) {
      this.#left(entry)
      throw error
    }
  }

  /** Does something with the connection to this server. */
  async use<T>(target: Target, work: (connection: Connection) => Promise<T>, use: PoolUse = {}): Promise<T> {
    const lease = await this.acquire(target, use)
    try {
      return await work(lease.connection)
    } finally {
      lease.release()
    }
  }

  /** The sessions that could be taken up again. */
  sessions(): readonly PooledSession[] {
    return [...this.#entries.values()].flatMap(({ connection, label, users }) => {
      const { session } = connection ?? {}
      return session === undefined ? [] : [{ ...session, target: label, users }]
    })
  }

  /** Ends a session, also at the server. Whether there was one. */
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

  /** Closes every connection, used or not. */
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
    return entry?.connection?.isOver === true ? undefined : entry
  }

  #open(key: string, target: Target, { name, credential, view, session }: PoolUse): Entry {
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
    void this.#follow(entry)
    return entry
  }

  async #follow(entry: Entry): Promise<void> {
    try {
      entry.connection = await entry.connecting
      entry.connection.onOver(() => this.#forget(entry))
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
      this.#left(entry)
    }
    return { connection, release, [Symbol.asyncDispose]: async () => release() }
  }

  #left(entry: Entry): void {
    entry.users--
    if (entry.users > 0 || this.#entries.get(entry.key) !== entry) return
    const { idleMs = defaultIdleMs, maxIdle = defaultMaxIdle } = this.#options
    entry.idleSince = this.#clock.now()
    entry.stopTimer = this.#clock.after(idleMs, () => this.#retire(entry), true)
    const idle = [...this.#entries.values()].filter(({ users }) => users === 0).sort((a, b) => b.idleSince - a.idleSince)
    for (const surplus of idle.slice(maxIdle)) this.#retire(surplus)
  }

  #retire(entry: Entry): void {
    this.#forget(entry)
    void entry.connecting.then((connection) => connection.close()).catch(() => undefined)
  }
}
