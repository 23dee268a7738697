import type { ConnectOptions } from '@unfold-mcp/client'
import type { Log } from '../../base/log.ts'
import type { UpstreamConnection } from '../../upstreams/connection.ts'
import { TimedSupervisor } from '../../upstreams/process/supervised.ts'
import type { ServerHolder } from '../../upstreams/status.ts'
import type { UpstreamOptions } from '../../upstreams/upstream.ts'
import type { HeldElsewhere, Holder, Lease, Leases } from '../lease.ts'
import { LeasedConnection } from './leased-connection.ts'
import { PeerConnection } from './peer-connection.ts'
import type { Signatures } from './signature.ts'

export interface PlacementOptions {
  readonly leases: Leases
  readonly signatures: Signatures
  readonly replica: string
  /** Where other replicas reach this one; known when it listens. */
  readonly address: Promise<string>
  readonly log: Log
}

type Open = NonNullable<UpstreamOptions['open']>

const maxPollMs = 500
const graceLeases = 3
const expiredMs = 100

/** Opens servers that run on one replica: here if this replica gets the lease, else through the replica that has it. */
export class Placement {
  readonly #options: PlacementOptions
  readonly #held = new Map<string, LeasedConnection>()
  readonly #holders = new Map<string, Holder>()

  constructor(options: PlacementOptions) {
    this.#options = options
  }

  /** The lease must expire, and the server start. */
  get graceMs(): number {
    return this.#options.leases.leaseMs * graceLeases
  }

  /** The connection to a server that runs here. */
  held(server: string): LeasedConnection | undefined {
    return this.#held.get(server)
  }

  /** The replica that runs a server, as far as this one knows. */
  holder(server: string): ServerHolder | undefined {
    const { replica, address, token: fence } = this.#holders.get(server) ?? {}
    if (replica === undefined || address === undefined || fence === undefined) return undefined
    return { replica, address, fence, isOwn: replica === this.#options.replica }
  }

  /** Wraps the function that opens a server on this replica. */
  open(server: string, openHere: Open): Open {
    return async (target, options, starting) => {
      const { signal = new AbortController().signal } = options
      const address = await Promise.race([this.#options.address, aborted(signal)])
      for (;;) {
        signal.throwIfAborted()
        const attempt = await this.#options.leases.acquire(server, address ?? '')
        if ('lease' in attempt) {
          const { lease } = attempt
          const holder = { replica: this.#options.replica, address: address ?? '', token: lease.token }
          return this.#openHere(server, { lease, holder }, options, (supervised) => openHere(target, supervised, starting))
        }
        const connection = await this.#openThere(server, attempt, options)
        if (connection !== undefined) return connection
        await pause(Math.min(attempt.waitMs, maxPollMs, this.#options.leases.leaseMs / 10), signal)
      }
    }
  }

  async #openHere(
    server: string,
    { lease, holder }: { readonly lease: Lease; readonly holder: Holder },
    options: ConnectOptions,
    open: (options: ConnectOptions) => Promise<UpstreamConnection>,
  ): Promise<UpstreamConnection> {
    const { log } = this.#options
    const supervisor = new TimedSupervisor(lease.times)
    lease.onRenewed((times) => supervisor.postpone(times))
    lease.lost.addEventListener('abort', () => supervisor.end())
    const processes = new Processes(options.onProcess)
    const released = async (): Promise<void> => {
      await Promise.race([processes.ended(), aborted(lease.lost)])
      await lease.release()
    }
    const signal = AbortSignal.any([lease.lost, ...(options.signal === undefined ? [] : [options.signal])])
    log.info({ upstream: server, fence: lease.token }, 'lease acquired; the server runs on this replica')
    try {
      const connection = await open({ ...options, signal, supervisor, onProcess: processes.track })
      const leased = new LeasedConnection({
        server,
        connection,
        lease,
        released: async () => {
          if (this.#held.get(server) === leased) this.#held.delete(server)
          if (this.#holders.get(server) === holder) this.#holders.delete(server)
          await released()
        },
      })
      this.#held.set(server, leased)
      this.#holders.set(server, holder)
      lease.lost.addEventListener('abort', () => {
        log.warn({ upstream: server, fence: lease.token }, 'lease lost; the server is ended on this replica')
        void leased.close()
      })
      return leased
    } catch (error) {
      await released()
      throw error
    }
  }

  /** `undefined` if the holder cannot be reached, or does not have the server now. */
  async #openThere(
    server: string,
    { holder, waitMs }: HeldElsewhere,
    connect: ConnectOptions,
  ): Promise<UpstreamConnection | undefined> {
    const { leases, signatures, log, replica } = this.#options
    if (holder === undefined || holder.replica === replica || !/^https?:\/\//u.test(holder.address)) return undefined
    try {
      const { leaseMs: silenceMs } = leases
      // When the lease expires, this replica can have it.
      const openTimeoutMs = Math.min(waitMs + expiredMs, silenceMs / 2)
      const connection = await PeerConnection.open({ server, holder, signatures, silenceMs, openTimeoutMs, connect })
      this.#holders.set(server, holder)
      connection.onClose(() => {
        if (this.#holders.get(server) === holder) this.#holders.delete(server)
      })
      return connection
    } catch (error) {
      log.debug({ upstream: server, holder, error }, 'the replica that runs the server cannot be reached')
      return undefined
    }
  }
}

/** Server processes that have not ended yet. */
class Processes {
  readonly #next: ConnectOptions['onProcess']
  readonly #running = new Set<number>()
  readonly #waiters = new Set<() => void>()

  constructor(next: ConnectOptions['onProcess']) {
    this.#next = next
  }

  readonly track: NonNullable<ConnectOptions['onProcess']> = (pid, state, id) => {
    this.#next?.(pid, state, id)
    if (state === 'ended') this.#running.delete(pid)
    else this.#running.add(pid)
    if (this.#running.size > 0) return
    for (const resolve of this.#waiters) resolve()
    this.#waiters.clear()
  }

  async ended(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#waiters.add(resolve))
  }
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined))
  })

/** Resolves after `ms`, or at once when the signal is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
