import { isRecord } from '@unfold-mcp/core'
import type { ActivationStore } from '@unfold-mcp/server'
import { hashed } from './hashed.ts'
import type { Redis, Script } from './redis.ts'

type Activation = Parameters<ActivationStore['save']>[1]

/** A store of activations that several replicas change. */
export interface SharedActivations extends ActivationStore {
  /** Replaces an activation by a function of what is stored, atomically. The function may run more than once. */
  update(key: string, change: (saved: unknown) => Activation): Promise<Activation>
  /** Calls back with the key of an activation that another replica may have changed; `undefined`: any. */
  watch(changed: (key: string | undefined) => void): () => void
}

const format = 1
const maxAttempts = 50
const keepMs = 90 * 24 * 60 * 60_000

// ARGV: text before, or empty; text after; time to keep; channel; key.
const replace: Script = {
  lua: `
local before = redis.call('GET', KEYS[1])
if (before or '') ~= ARGV[1] then return { 0, before } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('PUBLISH', ARGV[4], ARGV[5])
return { 1 }`,
}

/** Activations that are remembered between connections, in Redis. They may be lost with its data. */
export function redisActivations(redis: Redis): SharedActivations {
  const keyOf = (key: string): string => `${redis.prefix}activation:${hashed(key)}`
  const channel = `${redis.prefix}changed:activations`
  const read = async (key: string): Promise<string | undefined> => {
    const text = await redis.command('GET', keyOf(key))
    return typeof text === 'string' ? text : undefined
  }
  return {
    load: async (key) => parse(key, await read(key)),
    async save(key, activation) {
      await redis.command('SET', keyOf(key), JSON.stringify({ format, key, activation }), 'PX', `${keepMs}`)
      await redis.command('PUBLISH', channel, key)
    },
    async update(key, change) {
      let text = await read(key)
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const activation = change(parse(key, text))
        const next = JSON.stringify({ format, key, activation })
        const reply = await redis.script(replace, [keyOf(key)], [text ?? '', next, `${keepMs}`, channel, key])
        const [isWritten, current] = Array.isArray(reply) ? reply : []
        if (isWritten === 1) return activation
        text = typeof current === 'string' ? current : undefined
      }
      throw new Error('Other replicas changed the same activation all the time. Try again.')
    },
    watch(changed) {
      const any = (): void => changed(undefined)
      const subscribed = redis.subscribe(channel, changed, any)
      return () => void subscribed.then((unsubscribe) => unsubscribe())
    },
  }
}

/** A foreign or damaged value counts as absent. */
function parse(key: string, text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) && value.format === format && value.key === key ? value.activation : undefined
  } catch {
    return undefined
  }
}
