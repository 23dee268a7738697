import { isRecord } from '@unfold-mcp/core'
import {
  parseSessionEvent,
  parseSessionRecord,
  type SessionEvent,
  type SessionMarks,
  type SessionRecord,
  type SessionStore,
  type StoredSession,
} from '@unfold-mcp/server'
import type { Redis, Script } from './redis.ts'

export interface RedisSessionsOptions {
  /** Id of this replica. */
  readonly replica: string
  /** False if a replica is known to have stopped. */
  readonly isAlive: (replica: string) => boolean
}

// Records of another format are refused, not misread: two versions may run side by side.
const format = '1'
const maxAttempts = 50
const renewedAtOnce = 500

// Fields of a session: f format, v version, r record, a announced view, s replica with the stream.

const createScript: Script = {
  lua: `
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'f', ARGV[1], 'v', '1', 'r', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])`,
}

const loadScript: Script = {
  lua: `
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return redis.call('HMGET', KEYS[1], 'f', 'v', 'r', 'a', 's')`,
}

const updateScript: Script = {
  lua: `
local version = redis.call('HGET', KEYS[1], 'v')
local written = 0
if version == ARGV[1] then
  written = 1
  version = tostring(tonumber(version) + 1)
  redis.call('HSET', KEYS[1], 'v', version, 'r', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('PUBLISH', ARGV[4], (string.gsub(ARGV[5], '"version":0}', '"version":' .. version .. '}')))
end
local fields = redis.call('HMGET', KEYS[1], 'f', 'v', 'r', 'a', 's')
return {written, unpack(fields)}`,
}

const markScript: Script = {
  lua: `
if redis.call('EXISTS', KEYS[1]) == 0 then return end
for i = 1, #ARGV, 2 do
  if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[1], ARGV[i])
  else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end`,
}

const renewScript: Script = {
  lua: `
local versions = {}
for i, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[1])
  versions[i] = redis.call('HGET', key, 'v') or ''
end
return versions`,
}

interface Message {
  readonly from: string
  readonly id: string
  readonly event: SessionEvent
}

/** Sessions in Redis. */
export class RedisSessions implements SessionStore, AsyncDisposable {
  readonly replica: string
  readonly #redis: Redis
  readonly #isAlive: (replica: string) => boolean
  readonly #listeners = new Set<{ readonly listener: (id: string, event: SessionEvent) => void; readonly gap: () => void }>()
  #unsubscribe: readonly (() => Promise<void>)[] = []

  static async open(redis: Redis, options: RedisSessionsOptions): Promise<RedisSessions> {
    const sessions = new RedisSessions(redis, options)
    await sessions.#subscribe()
    return sessions
  }

  private constructor(redis: Redis, { replica, isAlive }: RedisSessionsOptions) {
    this.replica = replica
    this.#redis = redis
    this.#isAlive = isAlive
  }

  /** In a sharded Redis, an event may arrive after the reply that it precedes. */
  get isCurrent(): boolean {
    return this.#redis.problem === undefined && !this.#redis.isSharded
  }

  async create(id: string, record: SessionRecord, idleMs: number): Promise<StoredSession> {
    await this.#redis.script(createScript, [this.#key(id)], [format, JSON.stringify(record), `${idleMs}`])
    return { record, version: 1, announced: undefined, stream: undefined }
  }

  async load(id: string, idleMs: number): Promise<StoredSession | undefined> {
    return parseStored(await this.#redis.script(loadScript, [this.#key(id)], [`${idleMs}`]))
  }

  async update(
    id: string,
    known: StoredSession,
    change: (record: SessionRecord) => SessionRecord,
    idleMs: number,
  ): Promise<StoredSession | undefined> {
    const message = this.#message(id, { kind: 'changed', version: 0 })
    let current: StoredSession | undefined = known
    for (let attempt = 0; attempt < maxAttempts && current !== undefined; attempt++) {
      const record = change(current.record)
      if (record === current.record) {
        // What is known may be outdated.
        if (current !== known) return current
        current = await this.load(id, idleMs)
        continue
      }
      const args = [`${current.version}`, JSON.stringify(record), `${idleMs}`, this.#channel(), message]
      const reply = await this.#redis.script(updateScript, [this.#key(id)], args)
      const [isWritten, ...fields] = Array.isArray(reply) ? (reply as unknown[]) : []
      current = parseStored(fields)
      if (Number(isWritten) === 1) return current
    }
    if (current === undefined) return undefined
    throw new Error('The session is changed by too many requests at the same time.')
  }

  async mark(id: string, marks: Partial<SessionMarks>): Promise<void> {
    const fields = [
      ...('announced' in marks ? ['a', marks.announced ?? ''] : []),
      ...('stream' in marks ? ['s', marks.stream ?? ''] : []),
    ]
    await this.#redis.script(markScript, [this.#key(id)], fields)
  }

  async remove(id: string): Promise<void> {
    await this.#redis.command('DEL', this.#key(id))
    await this.send(id, { kind: 'ended' })
  }

  async renew(ids: readonly string[], idleMs: number): Promise<ReadonlyMap<string, number>> {
    const size = this.#redis.isSharded ? 1 : renewedAtOnce
    const chunks = Array.from({ length: Math.ceil(ids.length / size) }, (_, index) => ids.slice(index * size, (index + 1) * size))
    const versions = await Promise.all(
      chunks.map((chunk) =>
        this.#redis.script(
          renewScript,
          chunk.map((id) => this.#key(id)),
          [`${idleMs}`],
        ),
      ),
    )
    const all = versions.flatMap((chunk) => (Array.isArray(chunk) ? chunk : []))
    return new Map(ids.flatMap((id, index) => (isVersion(all[index]) ? [[id, Number(all[index])] as const] : [])))
  }

  async send(id: string, event: SessionEvent, to?: string): Promise<void> {
    await this.#redis.command('PUBLISH', this.#channel(to), this.#message(id, event))
  }

  subscribe(listener: (id: string, event: SessionEvent) => void, gap: () => void): () => void {
    const subscriber = { listener, gap }
    this.#listeners.add(subscriber)
    return () => this.#listeners.delete(subscriber)
  }

  isAlive(replica: string): boolean {
    return this.#isAlive(replica)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear()
    await Promise.all(this.#unsubscribe.map((unsubscribe) => unsubscribe()))
  }

  async #subscribe(): Promise<void> {
    const receive = (text: string): void => {
      const message = parseMessage(text)
      if (message === undefined || message.from === this.replica) return
      for (const { listener } of this.#listeners) listener(message.id, message.event)
    }
    const gap = (): void => {
      for (const each of this.#listeners) each.gap()
    }
    const channels = [this.#channel(), this.#channel(this.replica)]
    this.#unsubscribe = await Promise.all(channels.map((channel) => this.#redis.subscribe(channel, receive, gap)))
  }

  #key(id: string): string {
    return `${this.#redis.prefix}session:${id}`
  }

  #channel(replica?: string): string {
    return `${this.#redis.prefix}sessions${replica === undefined ? '' : `:${replica}`}`
  }

  #message(id: string, event: SessionEvent): string {
    return JSON.stringify({ from: this.replica, id, event } satisfies Message)
  }
}

/** Throws for a session that a newer version stored. */
function parseStored(fields: unknown): StoredSession | undefined {
  const [found, version, record, announced, stream] = Array.isArray(fields) ? (fields as unknown[]) : []
  if (found === null || found === undefined) return undefined
  if (found !== format) throw new Error(`The session was stored by another version of the gateway (format ${String(found)}).`)
  const parsed = typeof record === 'string' ? parseSessionRecord(parseJson(record)) : undefined
  if (parsed === undefined || !isVersion(version)) return undefined
  return {
    record: parsed,
    version: Number(version),
    announced: typeof announced === 'string' ? announced : undefined,
    stream: typeof stream === 'string' ? stream : undefined,
  }
}

function parseMessage(text: string): Message | undefined {
  const value = parseJson(text)
  if (!isRecord(value) || typeof value.from !== 'string' || typeof value.id !== 'string') return undefined
  const event = parseSessionEvent(value.event)
  return event === undefined ? undefined : { from: value.from, id: value.id, event }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isVersion = (value: unknown): value is string => typeof value === 'string' && /^\d{1,15}$/u.test(value)
