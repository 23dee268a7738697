import { isRecord } from '@unfold-mcp/core'
import {
  type ClientKnowledge,
  type KeptEvent,
  parseSessionEvent,
  parseSessionRecord,
  type ServedList,
  type SessionEvent,
  type SessionRecord,
  type SessionStore,
  type StoredSession,
} from '@unfold-mcp/server'
import type { Redis, Script } from '../redis.ts'
import { ReplyEvents } from './reply-events.ts'

export interface RedisSessionsOptions {
  /** Id of this replica. */
  readonly replica: string
  /** False if a replica is known to have stopped. */
  readonly isAlive: (replica: string) => boolean
  /** The time by Redis' clock. */
  readonly time: () => number
}

// Records of another format are refused, not misread: two versions may run side by side.
const format = '1'
const maxAttempts = 50
const sessionsAtOnce = 500
// A notification is recorded after it was sent. A list that seems a little older than it may be the one that it caused.
const clockMarginMs = 2_000

// Fields of a session: f format, v version, r record, a and at view that was announced and when, l and lt view that was listed and when,
// s replica with the stream.
const fields = `'f', 'v', 'r', 'a', 'at', 'l', 'lt', 's'`
const milliseconds = `local time = redis.call('TIME')\nlocal now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))`

const createScript: Script = {
  lua: `
redis.call('HSET', KEYS[1], 'f', ARGV[1], 'v', '1', 'r', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])`,
}

const loadScript: Script = {
  lua: `
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return redis.call('HMGET', KEYS[1], ${fields})`,
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
local fields = redis.call('HMGET', KEYS[1], ${fields})
return {written, unpack(fields)}`,
}

const markScript: Script = {
  lua: `
if redis.call('EXISTS', KEYS[1]) == 0 then return end
${milliseconds}
for i = 1, #ARGV, 2 do
  if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[1], ARGV[i])
  else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
  if ARGV[i] == 'a' then redis.call('HSET', KEYS[1], 'at', now) end
end`,
}

// Replicas record lists with a delay, and a frozen Redis executes the records much later: the order of the records is not that of the
// lists.
const confirmScript: Script = {
  lua: `
${milliseconds}
local versions = {}
for i, key in ipairs(KEYS) do
  versions[i] = redis.call('HGET', key, 'v') or ''
  local at = math.min(tonumber(now), tonumber(ARGV[2 * i]))
  local last = tonumber(redis.call('HGET', key, 'lt') or '0')
  if versions[i] ~= '' and at >= last then redis.call('HSET', key, 'l', ARGV[2 * i - 1], 'lt', string.format('%.0f', at)) end
end
return versions`,
}

const renewScript: Script = {
  lua: `
local found = {}
for i, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[1])
  found[i] = redis.call('HMGET', key, 'v', 'a', 'at', 'l', 'lt')
end
return found`,
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
  readonly #replies: ReplyEvents
  readonly #isAlive: (replica: string) => boolean
  readonly #time: () => number
  readonly #listeners = new Set<{ readonly listener: (id: string, event: SessionEvent) => void; readonly gap: () => void }>()
  #unsubscribe: readonly (() => Promise<void>)[] = []

  static async open(redis: Redis, options: RedisSessionsOptions): Promise<RedisSessions> {
    const sessions = new RedisSessions(redis, options)
    await sessions.#subscribe()
    return sessions
  }

  private constructor(redis: Redis, { replica, isAlive, time }: RedisSessionsOptions) {
    this.replica = replica
    this.#redis = redis
    this.#replies = new ReplyEvents(redis)
    this.#isAlive = isAlive
    this.#time = time
  }

  /** In a sharded Redis, an event may arrive after the reply that it precedes. */
  get isCurrent(): boolean {
    return this.#redis.problem === undefined && !this.#redis.isSharded
  }

  async create(id: string, record: SessionRecord, idleMs: number): Promise<StoredSession> {
    await this.#redis.script(createScript, [this.#key(id)], [format, JSON.stringify(record), `${idleMs}`])
    return { record, version: 1, announced: undefined, listed: undefined, hasListedSince: false, stream: undefined }
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
      const [isWritten, ...rest] = Array.isArray(reply) ? (reply as unknown[]) : []
      current = parseStored(rest)
      if (Number(isWritten) === 1) return current
    }
    if (current === undefined) return undefined
    throw new Error('The session is changed by too many requests at the same time.')
  }

  async mark(
    id: string,
    marks: { readonly announced?: string | undefined; readonly stream?: string | undefined },
  ): Promise<void> {
    const changed = [
      ...('announced' in marks ? ['a', marks.announced ?? ''] : []),
      ...('stream' in marks ? ['s', marks.stream ?? ''] : []),
    ]
    await this.#redis.script(markScript, [this.#key(id)], changed)
  }

  async confirm(lists: ReadonlyMap<string, ServedList>): Promise<ReadonlyMap<string, number>> {
    const ids = [...lists.keys()]
    const now = this.#time()
    const versions = await this.#inChunks(ids, (chunk) => [
      confirmScript,
      chunk.flatMap((id) => [lists.get(id)?.fingerprint ?? '', `${Math.round(now - (lists.get(id)?.ageMs ?? 0))}`]),
    ])
    return new Map(ids.flatMap((id, index) => (isVersion(versions[index]) ? [[id, Number(versions[index])] as const] : [])))
  }

  async remove(id: string): Promise<void> {
    await this.#redis.command('DEL', this.#key(id))
    await this.send(id, { kind: 'ended' })
  }

  async renew(
    ids: readonly string[],
    idleMs: number,
  ): Promise<ReadonlyMap<string, ClientKnowledge & { readonly version: number }>> {
    const found = await this.#inChunks(ids, () => [renewScript, [`${idleMs}`]])
    return new Map(
      ids.flatMap((id, index) => {
        const [version, ...known] = Array.isArray(found[index]) ? (found[index] as unknown[]) : []
        return isVersion(version) ? [[id, { version: Number(version), ...knowledge(known) }] as const] : []
      }),
    )
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

  keep(id: string, event: KeptEvent): Promise<void> {
    return this.#replies.keep(id, event)
  }

  kept(id: string, stream: string, index: number): Promise<readonly string[]> {
    return this.#replies.after(id, stream, index)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear()
    await Promise.all(this.#unsubscribe.map((unsubscribe) => unsubscribe()))
  }

  /** Runs a script for many sessions; its reply has one item for each. */
  async #inChunks(
    ids: readonly string[],
    call: (chunk: readonly string[]) => readonly [Script, readonly string[]],
  ): Promise<readonly unknown[]> {
    const size = this.#redis.isSharded ? 1 : sessionsAtOnce
    const chunks = Array.from({ length: Math.ceil(ids.length / size) }, (_, index) => ids.slice(index * size, (index + 1) * size))
    const replies = await Promise.all(
      chunks.map((chunk) => {
        const [script, args] = call(chunk)
        return this.#redis.script(
          script,
          chunk.map((id) => this.#key(id)),
          args,
        )
      }),
    )
    return replies.flatMap((reply) => (Array.isArray(reply) ? (reply as unknown[]) : []))
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
function parseStored(reply: unknown): StoredSession | undefined {
  const [found, version, record, ...rest] = Array.isArray(reply) ? (reply as unknown[]) : []
  const stream = rest[4]
  if (found === null || found === undefined) return undefined
  if (found !== format)
    throw new Error(`The session was stored by another version of the gateway (format ${JSON.stringify(found)}).`)
  const parsed = typeof record === 'string' ? parseSessionRecord(parseJson(record)) : undefined
  if (parsed === undefined || !isVersion(version)) return undefined
  return {
    record: parsed,
    version: Number(version),
    ...knowledge(rest),
    stream: typeof stream === 'string' ? stream : undefined,
  }
}

function knowledge([announced, announcedAt, listed, listedAt]: readonly unknown[]): ClientKnowledge {
  return {
    announced: typeof announced === 'string' ? announced : undefined,
    listed: typeof listed === 'string' ? listed : undefined,
    hasListedSince: typeof listed === 'string' && Number(listedAt ?? 0) + clockMarginMs > Number(announcedAt ?? 0),
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
