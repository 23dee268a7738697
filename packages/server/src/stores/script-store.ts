import { randomUUID } from 'node:crypto'

/**
 * What paused scripts leave outside the state that travels with the client: which states were used, the calls that were sent since,
 * and states that are too large to travel. A store that several processes share, or that survives a restart, extends single use to
 * all of them. Values are encrypted by the caller.
 */
export interface ScriptStore {
  /** Identifies this process. */
  readonly process: string
  /** Whether the process with this identity may still be working. */
  isRunning(process: string): boolean | Promise<boolean>
  /** Adds a value, atomically across processes, unless the key has one. Resolves with the value that the key has already. */
  add(key: string, value: string, expiresAt: number): Promise<string | undefined>
  get(key: string): Promise<string | undefined>
  set(key: string, value: string, expiresAt: number): Promise<void>
  delete(keys: readonly string[]): Promise<void>
}

interface Held {
  readonly value: string
  readonly expiresAt: number
}

const sweepEvery = 256

/** Keeps everything in this process: single use ends with it. */
export function memoryScriptStore(now: () => number = Date.now): ScriptStore {
  const held = new Map<string, Held>()
  const process = randomUUID()
  let additions = 0
  const current = (key: string): string | undefined => {
    const found = held.get(key)
    return found !== undefined && found.expiresAt > now() ? found.value : undefined
  }
  const sweep = (): void => {
    if (++additions % sweepEvery !== 0) return
    for (const [key, { expiresAt }] of held) if (expiresAt <= now()) held.delete(key)
  }
  return {
    process,
    isRunning: (other) => other === process,
    async add(key, value, expiresAt) {
      sweep()
      const found = current(key)
      if (found === undefined) held.set(key, { value, expiresAt })
      return found
    },
    get: async (key) => current(key),
    async set(key, value, expiresAt) {
      sweep()
      held.set(key, { value, expiresAt })
    },
    async delete(keys) {
      for (const key of keys) held.delete(key)
    },
  }
}
