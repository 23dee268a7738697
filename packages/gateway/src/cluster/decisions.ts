import { createHash } from 'node:crypto'
import { type DataEpoch, fenced } from './epoch.ts'
import type { Redis, Script } from './redis.ts'

const maxAttempts = 20
const pollMs = 3_000

const read = fenced(`return redis.call('HGET', KEYS[2], ARGV[2])`)
const names = fenced(`return redis.call('HKEYS', KEYS[2])`)
const versionOf = fenced(`return redis.call('HGET', KEYS[1], ARGV[2])`)
const find = fenced(`
local name = redis.call('HGET', KEYS[3], ARGV[2])
return name and redis.call('HGET', KEYS[2], name)`)
const expired = fenced(`return redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[2], 'LIMIT', 0, 1000)`)
const all = fenced(`return redis.call('HVALS', KEYS[2])`)

// Compared by hash, because a record may be large. ARGV: name, hash before, text after, version field, channel, expiry, ids before
// and after as JSON.
const replace: Script = fenced(`
local before = redis.call('HGET', KEYS[2], ARGV[2])
if (before and redis.sha1hex(before) or '') ~= ARGV[3] then return { 0, before } end
if ARGV[4] == '' then redis.call('HDEL', KEYS[2], ARGV[2]) else redis.call('HSET', KEYS[2], ARGV[2], ARGV[4]) end
for _, id in ipairs(cjson.decode(ARGV[8])) do redis.call('HDEL', KEYS[3], id) end
for _, id in ipairs(cjson.decode(ARGV[9])) do redis.call('HSET', KEYS[3], id, ARGV[2]) end
if ARGV[7] == '' then redis.call('ZREM', KEYS[4], ARGV[2]) else redis.call('ZADD', KEYS[4], ARGV[7], ARGV[2]) end
redis.call('HINCRBY', KEYS[1], ARGV[5], 1)
redis.call('PUBLISH', ARGV[6], '')
return { 1 }`)

/** A record as it is stored. */
export interface DecisionText {
  /** Empty: no record. */
  readonly text: string
  /** By which `find` finds the record. */
  readonly ids?: readonly string[]
  /** When `expired` returns it, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
}

/** Decisions of people in Redis, by name. Fails closed: everything rejects while Redis is unavailable or has lost data. */
export class Decisions {
  readonly #redis: Redis
  readonly #epoch: DataEpoch
  readonly #kind: string
  readonly #watchers = new Set<() => void>()
  readonly #ends: (() => unknown)[] = []
  #version: unknown

  private constructor(redis: Redis, epoch: DataEpoch, kind: string) {
    this.#redis = redis
    this.#epoch = epoch
    this.#kind = kind
  }

  static async open(redis: Redis, epoch: DataEpoch, kind: 'approvals' | 'trust'): Promise<Decisions> {
    const decisions = new Decisions(redis, epoch, kind)
    const changed = (): void => decisions.#changed()
    // Messages can be lost, so the version is compared too.
    const timer = setInterval(() => void decisions.#poll(), pollMs)
    timer.unref()
    decisions.#ends.push(
      await redis.subscribe(decisions.#channel, changed, changed),
      epoch.onChange(changed),
      redis.onStatus((problem) => problem === undefined && changed()),
      () => clearInterval(timer),
    )
    return decisions
  }

  async read(name: string): Promise<string | undefined> {
    return textOf(await this.#run(read, [name]))
  }

  async names(): Promise<readonly string[]> {
    return textsOf(await this.#run(names, []))
  }

  async all(): Promise<readonly string[]> {
    return textsOf(await this.#run(all, []))
  }

  /** The record with this id. */
  async find(id: string): Promise<string | undefined> {
    return textOf(await this.#run(find, [id]))
  }

  /** Names of records that expired, at most 1,000. */
  async expired(now: number): Promise<readonly string[]> {
    return textsOf(await this.#run(expired, [`${now}`]))
  }

  /** Replaces a record by a function of it, atomically across replicas. */
  async update<T>(
    name: string,
    change: (text: string | undefined) => { readonly before: DecisionText; readonly after: DecisionText; readonly result: T },
  ): Promise<T> {
    let text = await this.read(name)
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { before, after, result } = change(text)
      if (after.text === (text ?? '')) return result
      const expiry = after.expiresAt === undefined ? '' : `${after.expiresAt}`
      const ids = [before, after].map(({ ids: each = [] }) => JSON.stringify(each))
      const hash = text === undefined ? '' : createHash('sha1').update(text).digest('hex')
      const reply = await this.#run(replace, [name, hash, after.text, `version:${this.#kind}`, this.#channel, expiry, ...ids])
      const [isWritten, current] = Array.isArray(reply) ? reply : []
      if (isWritten === 1) return result
      text = textOf(current)
    }
    throw new Error('Other replicas changed the same decision all the time. Try again.')
  }

  /** Calls back when another replica may have changed something. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed)
    return () => this.#watchers.delete(changed)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watchers.clear()
    for (const end of this.#ends) await end()
  }

  get #channel(): string {
    return `${this.#redis.prefix}changed:${this.#kind}`
  }

  #run(script: Script, args: readonly string[]): Promise<unknown> {
    const key = `${this.#redis.prefix}{decisions}:${this.#kind}`
    return this.#epoch.script(script, [key, `${key}:ids`, `${key}:expiry`], args)
  }

  async #poll(): Promise<void> {
    const version = await this.#run(versionOf, [`version:${this.#kind}`]).catch(() => this.#version)
    if (version === this.#version) return
    this.#version = version
    this.#changed()
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

const textOf = (reply: unknown): string | undefined => (typeof reply === 'string' ? reply : undefined)
const textsOf = (reply: unknown): readonly string[] =>
  Array.isArray(reply) ? reply.filter((each) => typeof each === 'string') : []
