import { createHash } from 'node:crypto'
import { errorMessage } from '../base/error-message.ts'
import type { RedisTarget } from '../base/redis-url.ts'
import { createRedisClient, type RedisClient, RedisReplyError } from './redis-client.ts'

/** A Lua script that Redis runs atomically. */
export interface Script {
  readonly lua: string
}

/** A connection to Redis or Valkey. */
export interface Redis extends AsyncDisposable {
  /** One command. Rejects with `RedisUnavailable` after the timeout or while disconnected. */
  command(...args: readonly string[]): Promise<unknown>
  /** Runs a script (EVALSHA, EVAL after NOSCRIPT). */
  script(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /**
   * Messages published to a channel; calls `gap` when messages may have been missed. Resolves once subscribed; at once while Redis is
   * unavailable, and then `gap` follows.
   */
  subscribe(channel: string, listener: (message: string) => void, gap: () => void): Promise<() => Promise<void>>
  /** `undefined` while Redis works, else what is wrong. */
  readonly problem: string | undefined
  onStatus(listener: (problem: string | undefined) => void): () => void
  /** Commands sent so far, without the checks of the connection. */
  readonly roundTrips: number
  readonly prefix: string
  /** Address of the server that Sentinel names; absent without Sentinel. It changes with a failover. */
  readonly master?: string | undefined
  /** True for Redis Cluster, where the keys of a script need a common hash tag. */
  readonly isSharded: boolean
}

/** Redis did not execute a command, or its reply did not arrive: then the command may have been executed. */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable'
}

export interface RedisOptions {
  readonly target: RedisTarget
  readonly prefix: string
  /** Timeout of a command; default: 1 second. */
  readonly timeoutMs?: number
}

/** Connects to Redis. Resolves after the timeout even if Redis is unavailable; the connection continues to be tried. */
export async function openRedis(options: RedisOptions): Promise<Redis> {
  const redis = new RedisConnection(options)
  await redis.open()
  return redis
}

const defaultTimeoutMs = 1_000
const checkMs = 5_000
const retryMs = 500
// After this many checks without a reply or an error, the connection is dead, although neither side closed it.
const stalledChecks = 8

// Replies that are about the server, not about the command.
const serverProblem =
  /^(?:OOM|READONLY|LOADING|MISCONF|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|NOAUTH|WRONGPASS|NOPERM|BUSY|UNKILLABLE)\b/u

const keyless = new Set(['PUBLISH', 'PING', 'TIME', 'INFO', 'FLUSHALL', 'CONFIG', 'SCRIPT'])

interface Subscriber {
  readonly listener: (message: string) => void
  readonly gap: () => void
}

class RedisConnection implements Redis {
  readonly prefix: string
  readonly isSharded: boolean
  readonly #target: RedisTarget
  readonly #timeoutMs: number
  readonly #hashes = new WeakMap<Script, string>()
  readonly #statusListeners = new Set<(problem: string | undefined) => void>()
  readonly #channels = new Map<string, Set<Subscriber>>()
  /** Channels that the client subscribed to; it subscribes again by itself after it was disconnected. */
  readonly #subscribed = new Set<string>()
  #client: RedisClient | undefined
  #problem: string | undefined = 'not connected yet'
  /** Set while commands would wait for a server that does not reply. */
  #isBlocked = true
  #roundTrips = 0
  #checking: Promise<void> | undefined
  #unanswered = 0
  #timer: NodeJS.Timeout | undefined
  #hasGap = false
  #isClosed = false

  constructor({ target, prefix, timeoutMs = defaultTimeoutMs }: RedisOptions) {
    this.#target = target
    this.prefix = prefix
    this.isSharded = target.kind === 'cluster'
    this.#timeoutMs = timeoutMs
  }

  get problem(): string | undefined {
    return this.#problem
  }

  get master(): string | undefined {
    return this.#client?.master
  }

  get roundTrips(): number {
    return this.#roundTrips
  }

  async open(): Promise<void> {
    await this.#connect()
    await this.#check()
  }

  command(...args: readonly string[]): Promise<unknown> {
    return this.#send(keyless.has(args[0]?.toUpperCase() ?? '') ? undefined : args[1], args)
  }

  async script(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const rest = [`${keys.length}`, ...keys, ...args]
    try {
      return await this.#send(keys[0], ['EVALSHA', this.#hashOf(script), ...rest])
    } catch (error) {
      if (!errorMessage(error).startsWith('NOSCRIPT')) throw error
      return this.#send(keys[0], ['EVAL', script.lua, ...rest])
    }
  }

  async subscribe(channel: string, listener: (message: string) => void, gap: () => void): Promise<() => Promise<void>> {
    const subscriber: Subscriber = { listener, gap }
    const subscribers = this.#channels.get(channel) ?? new Set()
    subscribers.add(subscriber)
    if (subscribers.size === 1) {
      this.#channels.set(channel, subscribers)
      await this.#subscribeTo(channel)
    }
    return async () => {
      subscribers.delete(subscriber)
      if (subscribers.size > 0 || this.#channels.get(channel) !== subscribers) return
      this.#channels.delete(channel)
      if (!this.#subscribed.delete(channel)) return
      const unsubscribed = this.#inTime(this.#client?.unsubscribe(channel) ?? Promise.resolve()).catch(() => undefined)
      // Nothing arrives meanwhile.
      if (!this.#isBlocked) await unsubscribed
    }
  }

  onStatus(listener: (problem: string | undefined) => void): () => void {
    this.#statusListeners.add(listener)
    return () => this.#statusListeners.delete(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#isBlocked = true
    this.#problem = 'closed'
    this.#statusListeners.clear()
    this.#channels.clear()
    await this.#discard()
  }

  async #connect(): Promise<void> {
    const client = await createRedisClient(this.#target, {
      onReady: () => {
        if (this.#client !== client) return
        this.#hasGap = true
        void this.#check()
      },
      onError: (error) => {
        if (this.#client !== client) return
        this.#unanswered = 0
        this.#block(errorMessage(error))
      },
    })
    if (this.#isClosed) return
    this.#client = client
    this.#unanswered = 0
    const connected = client.connect().catch(async (error: unknown) => {
      if (this.#client !== client || this.#isClosed) return
      // Sentinel and Cluster clients give up if no node can be reached.
      this.#block(errorMessage(error))
      await this.#discard()
    })
    await Promise.race([connected, this.#pause()])
  }

  async #discard(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    this.#subscribed.clear()
    // The library throws if the client is closed already.
    await client?.destroy().catch(() => undefined)
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, this.#timeoutMs).unref()
    })
  }

  async #subscribeTo(channel: string): Promise<void> {
    const client = this.#client
    if (client === undefined || this.#isBlocked) return
    const subscribed = client.subscribe(channel, (message) => {
      for (const { listener } of this.#channels.get(channel) ?? []) listener(message)
    })
    await this.#inTime(subscribed)
      .then(() => void this.#subscribed.add(channel))
      .catch((error: unknown) => {
        if (this.#client === client) this.#block(errorMessage(error))
      })
  }

  #send(key: string | undefined, args: readonly string[]): Promise<unknown> {
    const client = this.#client
    if (this.#isBlocked || client === undefined)
      return Promise.reject(new RedisUnavailable(`Redis is unavailable: ${this.#problem}`))
    this.#roundTrips++
    return this.#inTime(client.send(key, args)).catch((error: unknown) => {
      if (error instanceof RedisUnavailable) {
        this.#block(`no reply within ${this.#timeoutMs} ms`)
        throw error
      }
      const message = errorMessage(error)
      if (!(error instanceof RedisReplyError)) this.#block(message)
      else if (serverProblem.test(message)) this.#report(message)
      else throw error
      throw new RedisUnavailable(`Redis is unavailable: ${message}`, { cause: error })
    })
  }

  #inTime<T>(reply: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const late = (): void => reject(new RedisUnavailable(`Redis is unavailable: no reply within ${this.#timeoutMs} ms`))
      // After a busy time of this process, the reply may have arrived before the timer is handled.
      const timer = setTimeout(() => setImmediate(late), this.#timeoutMs)
      reply.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  #block(problem: string): void {
    this.#isBlocked = true
    this.#report(problem)
  }

  #report(problem: string | undefined): void {
    if (this.#isClosed) return
    const hasChanged = (problem === undefined) !== (this.#problem === undefined)
    this.#problem = problem
    if (hasChanged && problem !== undefined) this.#schedule(retryMs)
    if (hasChanged) for (const listener of this.#statusListeners) listener(problem)
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#check(), ms * (0.75 + Math.random() / 2))
    this.#timer.unref()
  }

  /** Writes a small value: a server that is out of memory, or a replica, replies to reads. */
  #check(): Promise<void> {
    this.#checking ??= this.#runCheck().finally(() => {
      this.#checking = undefined
      if (!this.#isClosed) this.#schedule(this.#problem === undefined ? checkMs : retryMs)
    })
    return this.#checking
  }

  async #runCheck(): Promise<void> {
    if (this.#isClosed) return
    if (this.#client === undefined) await this.#connect()
    const client = this.#client
    if (client === undefined) return
    const key = `${this.prefix}check`
    try {
      await this.#inTime(client.send(key, ['SET', key, '1', 'PX', '60000']))
      if (this.#client !== client) return
      this.#unanswered = 0
      this.#isBlocked = false
      this.#report(undefined)
      await this.#resubscribe()
    } catch (error) {
      if (this.#client !== client) return
      const message = errorMessage(error)
      this.#unanswered++
      if (error instanceof RedisUnavailable) this.#block(`no reply within ${this.#timeoutMs} ms`)
      else if (error instanceof RedisReplyError) {
        this.#unanswered = 0
        this.#isBlocked = false
        this.#report(message)
      } else this.#block(this.#problem ?? message)
      // A replica that was the master does not become it again; another connection may lead to the new one.
      if (this.#unanswered >= stalledChecks || message.startsWith('READONLY')) await this.#discard()
    }
  }

  async #resubscribe(): Promise<void> {
    const missing = [...this.#channels.keys()].filter((channel) => !this.#subscribed.has(channel))
    await Promise.all(missing.map((channel) => this.#subscribeTo(channel)))
    const isMissed = (channel: string): boolean => this.#hasGap || missing.includes(channel)
    const gaps = [...this.#channels].flatMap(([channel, subscribers]) => (isMissed(channel) ? [...subscribers] : []))
    this.#hasGap = false
    for (const { gap } of gaps) gap()
  }

  #hashOf(script: Script): string {
    const known = this.#hashes.get(script)
    if (known !== undefined) return known
    const hash = createHash('sha1').update(script.lua).digest('hex')
    this.#hashes.set(script, hash)
    return hash
  }
}
