import type { RedisClientOptions } from '@redis/client'
import type { RedisTarget } from '../base/redis-url.ts'

/** One client of the library, whichever way Redis is deployed. */
export interface RedisClient {
  /** Address of the server that Sentinel names. */
  readonly master?: string | undefined
  connect(): Promise<unknown>
  /** `key`: the first key of the command, by which Redis Cluster finds the node. */
  send(key: string | undefined, args: readonly string[]): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  destroy(): Promise<void>
}

/** An error that Redis replied with. */
export class RedisReplyError extends Error {
  override readonly name = 'RedisReplyError'
}

export interface ClientEvents {
  /** Connected, for the first time or again. */
  onReady(): void
  onError(error: unknown): void
}

const maxQueued = 10_000
const minReconnectMs = 50
const maxReconnectMs = 2_000
// Sentinel clients run one command per connection at a time.
const sentinelConnections = 8

/** Creates a client that rejects commands while it is disconnected. The library is loaded here only. */
export async function createRedisClient(
  { kind, isTls, username, password, nodes, database, master }: RedisTarget,
  events: ClientEvents,
): Promise<RedisClient> {
  const onReady = (): void => events.onReady()
  const onError = (error: unknown): void => events.onError(error)
  const { createClient, createCluster, createSentinel, ErrorReply } = await library()
  const translated = (reply: Promise<unknown>): Promise<unknown> =>
    reply.catch((error: unknown) => {
      throw error instanceof ErrorReply ? new RedisReplyError(error.message) : error
    })
  const socket = { connectTimeout: 5_000, reconnectStrategy, ...(isTls && { tls: true as const }) }
  const options = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    commandsQueueMaxLength: maxQueued,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled' as const,
  } satisfies RedisClientOptions
  // The caller has its own timeout, which also covers commands that were sent.
  const commandOptions = { timeout: 0 }
  if (kind === 'sentinel') {
    const client = createSentinel({
      name: master,
      sentinelRootNodes: [...nodes],
      nodeClientOptions: { ...options, socket, database },
      sentinelClientOptions: { socket, maintNotifications: 'disabled' },
      masterPoolSize: sentinelConnections,
      commandOptions,
    })
    let current: string | undefined
    client.on('error', onError).on('client-error', onError).on('ready', onReady)
    client.on('topology-change', ({ type, node }: { readonly type: string; readonly node?: RedisTarget['nodes'][number] }) => {
      if (type === 'MASTER_CHANGE' && node !== undefined) current = `${node.host}:${node.port}`
      onReady()
    })
    return {
      get master() {
        return current
      },
      connect: () => client.connect(),
      send: (_key, args) => translated(client.sendCommand(false, [...args])),
      subscribe: (channel, listener) => client.subscribe(channel, listener),
      unsubscribe: (channel) => client.unsubscribe(channel),
      destroy: () => client.destroy(),
    }
  }
  if (kind === 'cluster') {
    const client = createCluster({
      rootNodes: nodes.map((node) => ({ socket: { ...socket, ...node } })),
      defaults: { ...options, socket },
      commandOptions,
    })
    client.on('error', onError).on('node-error', onError).on('connect', onReady).on('node-ready', onReady)
    return {
      connect: () => client.connect(),
      send: (key, args) => translated(client.sendCommand(key, false, [...args])),
      subscribe: (channel, listener) => client.subscribe(channel, listener),
      unsubscribe: (channel) => client.unsubscribe(channel),
      destroy: async () => client.destroy(),
    }
  }
  const client = createClient({ ...options, socket: { ...socket, ...nodes[0] }, database, commandOptions })
  client.on('error', onError).on('ready', onReady)
  return {
    connect: () => client.connect(),
    send: (_key, args) => translated(client.sendCommand([...args])),
    subscribe: (channel, listener) => client.subscribe(channel, listener),
    unsubscribe: (channel) => client.unsubscribe(channel),
    destroy: async () => client.destroy(),
  }
}

type Library = typeof import('@redis/client')

// A CommonJS module, whose exports a bundle has only as the default.
async function library(): Promise<Library> {
  const { default: exports } = (await import('@redis/client')) as unknown as { readonly default: Library }
  return exports
}

// Random, so that all replicas do not reconnect at the same moment.
const reconnectStrategy = (retries: number): number =>
  Math.min(maxReconnectMs, minReconnectMs * 2 ** Math.min(retries, 10)) * (0.5 + Math.random() / 2)
