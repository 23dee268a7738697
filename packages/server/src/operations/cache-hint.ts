import { canChange, dependsOnPrincipal, type Runtime } from '../runtime/runtime.ts'

/** How long and by whom a 2026-07-28 client's list may be cached. */
export interface ListCacheHint {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

export function cacheHint(runtime: Runtime): ListCacheHint {
  const ttlMs = runtime.declaration.ttlMs ?? (canChange(runtime) || dependsOnPrincipal(runtime) ? 0 : 60_000)
  return { ttlMs, cacheScope: dependsOnPrincipal(runtime) ? 'private' : 'public' }
}
