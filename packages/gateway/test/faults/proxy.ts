import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * Network behaviour: normal (`fine`); delayed (`latency`) or byte by byte (`slow`); connections stay open and deliver
 * nothing (`half-open`), both existing and new ones; or new connections are rejected (`refuse`).
 */
export type Manner = 'fine' | 'latency' | 'slow' | 'half-open' | 'refuse'

/** A simulated network in front of a local port. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  /** The number of connections. */
  readonly open: number
  /** Applies to existing and future connections. */
  behave(manner: Manner): void
  /** Closes every connection cleanly. */
  cut(): void
  /** Resets every connection. */
  reset(): void
  leadTo(port: number): void
}

const latencyMs = 150
const slowMs = 1
const slowBytes = 16

/** Starts a fault proxy in front of a port. */
export async function faultProxy(target: number): Promise<FaultProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  // No network delivers data after bytes that it lost.
  const broken = new Set<readonly [Socket, Socket]>()
  let manner: Manner = 'fine'
  let to = target
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (manner === 'refuse') {
      client.on('error', () => undefined)
      client.resetAndDestroy()
      return
    }
    const upstream = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true })
    const pair = [client, upstream] as const
    pairs.add(pair)
    for (const [from, into] of [pair, [upstream, client] as const]) {
      const deliver = delivery(into, { manner: () => manner, lost: () => broken.add(pair) })
      from.on('data', deliver)
      from.on('end', () => manner !== 'half-open' && into.end())
      from.on('error', () => into.destroy())
      from.on('close', () => {
        pairs.delete(pair)
        broken.delete(pair)
        into.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const each = (end: (socket: Socket) => void): void => {
    for (const pair of [...pairs]) for (const socket of pair) end(socket)
  }
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return pairs.size
    },
    behave(next) {
      manner = next
      if (next !== 'half-open') for (const pair of [...broken]) for (const socket of pair) socket.destroy()
    },
    cut: () => each((socket) => socket.destroy()),
    reset: () => each((socket) => socket.resetAndDestroy()),
    leadTo(next) {
      to = next
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      each((socket) => socket.destroy())
      await closed
    },
  }
}

/** Forwards data in order, with the behaviour at the time of arrival. */
function delivery(into: Socket, { manner, lost }: { manner: () => Manner; lost: () => void }): (chunk: Buffer) => void {
  let last = Promise.resolve()
  const write = (bytes: Buffer): void => void (into.writable && into.write(bytes))
  const after = async (before: Promise<void>, chunk: Buffer): Promise<void> => {
    await before
    if (manner() === 'half-open') {
      lost()
      return
    }
    if (manner() === 'latency') await pause(latencyMs)
    if (manner() !== 'slow') {
      write(chunk)
      return
    }
    for (let at = 0; at < chunk.length; at += slowBytes) {
      write(chunk.subarray(at, at + slowBytes))
      await pause(slowMs)
    }
  }
  return (chunk) => {
    last = after(last, chunk)
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
