import type { ScriptStore } from '@unfold-mcp/server'
import type { Replica } from '../base/replica.ts'
import { hashed } from './hashed.ts'
import type { Redis } from './redis.ts'

/** Traces of paused scripts in Redis: a script continues once, on whichever replica. */
export function redisScriptStore(redis: Redis, { id, isRunning }: Pick<Replica, 'id' | 'isRunning'>): ScriptStore {
  const keyOf = (key: string): string => `${redis.prefix}script:${hashed(key)}`
  const lifeOf = (expiresAt: number): string => `${Math.max(1, Math.ceil(expiresAt - Date.now()))}`
  const get = async (key: string): Promise<string | undefined> => {
    const found = await redis.command('GET', keyOf(key))
    return typeof found === 'string' ? found : undefined
  }
  return {
    process: id,
    isRunning: (other) => other === id || isRunning(other),
    async add(key, value, expiresAt) {
      const added = await redis.command('SET', keyOf(key), value, 'PX', lifeOf(expiresAt), 'NX')
      // One that expired in between counts as used.
      return added === null ? ((await get(key)) ?? '{"isOver":true}') : undefined
    },
    get,
    async set(key, value, expiresAt) {
      await redis.command('SET', keyOf(key), value, 'PX', lifeOf(expiresAt))
    },
    async delete(keys) {
      // One by one: in Redis Cluster, the keys of a command need a common hash tag.
      await Promise.all(keys.map((key) => redis.command('DEL', keyOf(key))))
    },
  }
}
