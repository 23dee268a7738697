import type { HttpTiming } from './http.ts'
import type { Weight } from './memory.ts'
import type { Timing } from './rounds.ts'

/** Results of one run. */
export interface Results {
  readonly machine: { readonly node: string; readonly cores: number; readonly load: number }
  readonly http: readonly HttpTiming[]
  readonly cachedList: readonly Timing[]
  readonly changedList: readonly Timing[]
  readonly call: readonly Timing[]
  readonly memory: readonly Weight[]
}

/** Returns the entry with this name. */
export function named<T extends { readonly name: string }>(entries: readonly T[], name: string): T {
  const found = entries.find((entry) => entry.name === name)
  if (found === undefined) throw new Error(`No measurement for "${name}".`)
  return found
}
