import { randomUUID } from 'node:crypto'
import { type Redis, RedisUnavailable, type Script } from './redis.ts'
import { RedisReplyError } from './redis-client.ts'

const checkMs = 3_000

/** Decisions in Redis are missing, or may be. */
export class DataLost extends Error {
  override readonly name = 'DataLost'
}

const causes: { readonly [cause: string]: readonly [cause: string, remedy: string] } = {
  data: ['Redis lost its data: approvals and trust decisions are missing', 'Restore the data, or start without it'],
  failover: [
    'Redis failed over to another server, which may lack the last approvals, revocations and trust decisions',
    'Check them, then confirm',
  ],
}

function lostMessage(key: string, lost: string): string {
  const [cause, remedy] = causes[lost] ?? ['Decisions in Redis may be missing', 'Check them, then confirm']
  return `${cause}. Calls that need approval are denied, and new tools of servers with "trust": "pin" or "review" are held. ${remedy}: redis-cli HDEL '${key}' lost`
}

/**
 * Finds out whether Redis still has its data. ARGV: the epoch that the caller knows, or empty; an epoch for the case that there is
 * none; the server that Sentinel names, or empty. An epoch that is gone or replaced means lost data; "after <epoch>" records that this was noticed, for replicas that notice
 * it later.
 */
const check: Script = {
  lua: `
local known = ARGV[1]
local current = redis.call('HGET', KEYS[1], 'current')
if not current then
  current = ARGV[2]
  redis.call('HSET', KEYS[1], 'current', current)
end
if known ~= '' and known ~= current and redis.call('HEXISTS', KEYS[1], 'after ' .. known) == 0 then
  redis.call('HSET', KEYS[1], 'after ' .. known, current, 'lost', 'data')
end
local server = redis.call('HGET', KEYS[1], 'server')
if ARGV[3] ~= '' and server ~= ARGV[3] then
  redis.call('HSET', KEYS[1], 'server', ARGV[3])
  if server then redis.call('HSETNX', KEYS[1], 'lost', 'failover') end
end
return { current, redis.call('HGET', KEYS[1], 'lost') or '' }`,
}

const fence = `
local fence = redis.call('HMGET', KEYS[1], 'current', 'server', 'lost')
if (fence[1] or '') .. ' ' .. (fence[2] or '') ~= ARGV[1] or fence[3] then
  return redis.error_reply('UNFOLDLOST data of the cluster is missing')
end
`

/** Makes a script fail after data was lost. Its first key and argument are those of `DataEpoch.fence`. */
export const fenced = (lua: string): Script => ({ lua: `${fence}${lua}` })

export interface DataEpochOptions {
  readonly redis: Redis
  /** The epoch that this machine saw last; `undefined` for the first start. */
  readonly known: string | undefined
  /** Called with a new epoch, to remember it. */
  readonly onEpoch: (epoch: string) => void
  readonly onLost: (problem: string | undefined) => void
}

/** Notices that Redis was restarted empty. Decisions are then refused until an operator confirms the loss. */
export class DataEpoch {
  readonly #options: DataEpochOptions
  readonly #listeners = new Set<() => void>()
  readonly #timer: NodeJS.Timeout
  #epoch: string | undefined
  #isChecked = false
  #lost = ''

  constructor(options: DataEpochOptions) {
    this.#options = options
    this.#epoch = options.known
    this.#timer = setInterval(() => void this.check().catch(() => undefined), checkMs)
    this.#timer.unref()
  }

  get key(): string {
    return `${this.#options.redis.prefix}{decisions}:epoch`
  }

  /** Called when data was lost, and when the loss was confirmed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async check(): Promise<void> {
    const { redis, onEpoch, onLost } = this.#options
    const reply = await redis
      .script(check, [this.key], [this.#epoch ?? '', randomUUID(), redis.master ?? ''])
      .catch((error: unknown) => {
        if (error instanceof RedisReplyError)
          onLost(`${this.key} in Redis belongs to another program (${error.message}). Set another cluster.prefix.`)
        throw error
      })
    const [current, lost] = Array.isArray(reply) ? reply.map(String) : []
    const hasChanged = lost !== this.#lost || current !== this.#epoch || !this.#isChecked
    if (current === undefined || lost === undefined) return
    if (current !== this.#epoch) onEpoch(current)
    this.#epoch = current
    this.#lost = lost
    this.#isChecked = true
    if (!hasChanged) return
    onLost(lost === '' ? undefined : lostMessage(this.key, lost))
    for (const listener of this.#listeners) listener()
  }

  /** Runs a fenced script. */
  async script(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    // The first check must not be skipped: it compares with what this machine saw last.
    if (!this.#isChecked) await this.check()
    if (this.#epoch === undefined) throw new RedisUnavailable('Redis is unavailable: not connected yet')
    try {
      return await this.#options.redis.script(
        script,
        [this.key, ...keys],
        [`${this.#epoch} ${this.#options.redis.master ?? ''}`, ...args],
      )
    } catch (error) {
      if (!(error instanceof RedisReplyError) || !error.message.startsWith('UNFOLDLOST')) throw error
      await this.check().catch(() => undefined)
      throw new DataLost(lostMessage(this.key, this.#lost), { cause: error })
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#listeners.clear()
  }
}
