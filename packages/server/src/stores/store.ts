import { type Activation, nothingActive } from '@unfold-mcp/core'

/** Persists activations between connections. */
export interface ActivationStore {
  load(key: string): Promise<unknown>
  save(key: string, activation: Activation): Promise<void>
  /**
   * For a store that several processes change: replaces an activation by a function of what is stored, atomically. The function may
   * run more than once.
   */
  update?(key: string, change: (saved: unknown) => Activation): Promise<Activation>
  /** Calls back with the key of an activation that another process may have changed; `undefined`: any. */
  watch?(changed: (key: string | undefined) => void): () => void
}

/** Validates a stored value; returns `undefined` if it is not an activation. */
export function parseActivation(value: unknown): Activation | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { groups, tools, tags, versions } = { ...nothingActive, ...value }
  if (!isStringArray(groups) || !isStringArray(tools) || !isStringArray(tags) || !isStringRecord(versions)) return undefined
  return { groups, tools, tags, versions }
}

const isStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= 10_000 && value.every((item) => typeof item === 'string')

const isStringRecord = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.values(value).every((item) => typeof item === 'string')
