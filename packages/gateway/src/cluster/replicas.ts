import { isRecord } from '@unfold-mcp/core'
import { version } from '../base/version.ts'
import type { Redis, Script } from './redis.ts'
import { RedisClock } from './redis-clock.ts'

/** A replica that reported recently. */
export interface ReplicaStatus {
  readonly id: string
  readonly version: string
  /** Where other replicas reach it; empty if they cannot. */
  readonly address: string
  readonly startedAt: string
  readonly lastSeen: string
}

/** How often a replica reports, and when the others consider it gone. */
const heartbeatMs = 3_000
const goneAfterMs = 10_000

// A hash, because Redis Cluster has no index of keys by prefix. The time is that of Redis, so clocks of replicas do not matter.
const report: Script = {
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[2])
local all = redis.call('HGETALL', KEYS[1])
local live = { string.format('%.0f', now) }
for i = 1, #all, 2 do
  local seen = tonumber(string.match(all[i + 1], '^(%d+) '))
  if not seen or seen > now + 60000 or now - seen > tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], all[i])
  else table.insert(live, all[i]) table.insert(live, all[i + 1]) end
end
return live`,
}

/** The replicas of a cluster. Each reports to Redis at intervals. */
export class Replicas {
  readonly #redis: Redis
  readonly #id: string
  readonly #startedAt = new Date().toISOString()
  #address = ''
  #all: readonly ReplicaStatus[] = []
  readonly #clock = new RedisClock()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(redis: Redis, id: string) {
    this.#redis = redis
    this.#id = id
    this.#timer = setInterval(() => void this.report().catch(() => undefined), heartbeatMs)
    this.#timer.unref()
  }

  /** As of the last report. */
  get all(): readonly ReplicaStatus[] {
    return this.#all
  }

  /** The time by Redis' clock, which all replicas share; before the first report, that of this machine. */
  get time(): number {
    return this.#clock.at(performance.now()) ?? Date.now()
  }

  /** What has to be added to the wall clock of this machine. */
  get clockOffsetMs(): number {
    return this.time - Date.now()
  }

  isRunning(id: string): boolean {
    return id === this.#id || this.#all.some((replica) => replica.id === id)
  }

  /** Sets where other replicas reach this one. */
  async listening(address: string): Promise<void> {
    this.#address = address
    await this.report().catch(() => undefined)
  }

  /** Reports this replica, and reads the others. */
  async report(): Promise<void> {
    if (this.#isClosed) return
    const own = JSON.stringify({ format: 1, version, address: this.#address, startedAt: this.#startedAt })
    const sentAt = performance.now()
    const reply = await this.#redis.script(report, [this.#key], [this.#id, own, `${goneAfterMs}`])
    const [now, ...entries] = Array.isArray(reply) ? reply.map(String) : []
    this.#clock.observe(Number(now), { sentAt, receivedAt: performance.now() })
    this.#all = entries.flatMap((text, index) => (index % 2 === 1 ? parse(entries[index - 1] ?? '', text) : []))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#redis.command('HDEL', this.#key, this.#id).catch(() => undefined)
  }

  get #key(): string {
    return `${this.#redis.prefix}replicas`
  }
}

/** Replicas of another format are listed by their id only. */
function parse(id: string, text: string): readonly ReplicaStatus[] {
  const [, seen = '', json = ''] = /^(\d{1,15}) (.*)$/su.exec(text) ?? []
  if (seen === '') return []
  const value = parsedJson(json)
  const field = (name: string): string => (isRecord(value) && typeof value[name] === 'string' ? value[name] : '')
  return [
    {
      id,
      version: field('version'),
      address: field('address'),
      startedAt: field('startedAt'),
      lastSeen: new Date(Number(seen)).toISOString(),
    },
  ]
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
