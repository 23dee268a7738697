import { randomUUID } from 'node:crypto'
import { type Redis, RedisUnavailable, type Script } from './redis.ts'
import { RedisReplyError } from './redis-client.ts'

const checkMs = 3_000

/** Redis came back without the decisions that it had. */
export class DataLost extends Error {
  override readonly name = 'DataLost'
}

const lostMessage = (key: string): string =>
  `Redis lost its data: approvals and trust decisions are missing. Calls that need approval are denied, and new tools of servers with "trust": "pin" or "review" are held. Restore the data, or start without it: redis-cli HDEL '${key}' lost`

/**
 * Finds out whether Redis still has its data. ARGV: the epoch that the caller knows, or empty; an epoch for the case that there is
 * none. An epoch that is gone or replaced means lost data; "after <epoch>" records that this was noticed, for replicas that notice
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
  redis.call('HSET', KEYS[1], 'after ' .. known, current, 'lost', '1')
end
return { current, redis.call('HEXISTS', KEYS[1], 'lost') }`,
}

const fence = `
if redis.call('HGET', KEYS[1], 'current') ~= ARGV[1] or redis.call('HEXISTS', KEYS[1], 'lost') == 1 then
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
  #isLost = false

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
    const reply = await redis.script(check, [this.key], [this.#epoch ?? '', randomUUID()]).catch((error: unknown) => {
      if (error instanceof RedisReplyError)
        onLost(`${this.key} in Redis belongs to another program (${error.message}). Set another cluster.prefix.`)
      throw error
    })
    const [current, lost] = Array.isArray(reply) ? reply : []
    const isLost = Number(lost) !== 0
    const hasChanged = isLost !== this.#isLost || current !== this.#epoch || !this.#isChecked
    if (current !== this.#epoch) onEpoch(String(current))
    this.#epoch = String(current)
    this.#isLost = isLost
    this.#isChecked = true
    if (!hasChanged) return
    onLost(isLost ? lostMessage(this.key) : undefined)
    for (const listener of this.#listeners) listener()
  }

  /** Runs a fenced script. */
  async script(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    // The first check must not be skipped: it compares with what this machine saw last.
    if (!this.#isChecked) await this.check()
    if (this.#epoch === undefined) throw new RedisUnavailable('Redis is unavailable: not connected yet')
    try {
      return await this.#options.redis.script(script, [this.key, ...keys], [this.#epoch, ...args])
    } catch (error) {
      if (!(error instanceof RedisReplyError) || !error.message.startsWith('UNFOLDLOST')) throw error
      await this.check().catch(() => undefined)
      throw new DataLost(lostMessage(this.key), { cause: error })
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#listeners.clear()
  }
}
