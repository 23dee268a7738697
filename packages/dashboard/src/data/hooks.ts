import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get } from './api.ts'
import type { PageSession } from './contract.ts'
import { type ConnectionState, type LiveEvent, live } from './stream.ts'

export interface Query<T> {
  readonly data: T | undefined
  readonly error: ApiError | undefined
  readonly reload: () => void
}

// The last answers, shown while a screen that was open before is loaded again.
const cache = new Map<string, unknown>()
const maxCached = 50
const minIntervalMs = 1_000

/**
 * Reads a path of the API, and again when events of the given types arrive or the connection is back. `undefined` reads nothing.
 */
export function useQuery<T>(path: string | undefined, types: readonly string[] = []): Query<T> {
  const [, render] = useState(0)
  const [error, setError] = useState<{ readonly path: string; readonly error: ApiError }>()
  const current = useRef(path)
  current.current = path
  const load = useCallback((): void => {
    if (path === undefined) return
    const read = async (): Promise<void> => {
      try {
        remember(path, await get<T>(path))
        if (current.current !== path) return
        setError(undefined)
        render((count) => count + 1)
      } catch (cause) {
        const failure = cause instanceof ApiError ? cause : new ApiError(0, String(cause))
        if (failure.status === 401) live.signOut()
        if (current.current === path) setError({ path, error: failure })
      }
    }
    void read()
  }, [path])
  useEffect(load, [load])
  const key = types.join()
  useEffect(() => {
    const wanted = new Set(key.split(','))
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined
        load()
      }, minIntervalMs)
    }
    const unsubscribe = live.subscribe((events) => {
      if (events.some(({ type }) => wanted.has(type))) soon()
    })
    const unwatch = live.watch((state) => {
      if (state === 'open') load()
    })
    return () => {
      clearTimeout(timer)
      unsubscribe()
      unwatch()
    }
  }, [load, key])
  return {
    data: path === undefined ? undefined : (cache.get(path) as T | undefined),
    error: error?.path === path ? error?.error : undefined,
    reload: load,
  }
}

function remember(path: string, data: unknown): void {
  cache.delete(path)
  cache.set(path, data)
  const [oldest] = cache.keys()
  if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest)
}

const roles: readonly PageSession['role'][] = ['viewer', 'reviewer', 'operator', 'admin']

/** Whether the user has a role or a higher one; `undefined` until that is known. The gateway checks it again. */
export function useMay(role: PageSession['role']): boolean | undefined {
  const { data } = useQuery<PageSession>('/session')
  return data === undefined ? undefined : roles.indexOf(data.role) >= roles.indexOf(role)
}

export function useConnection(): ConnectionState {
  const [state, setState] = useState(live.state)
  useEffect(() => {
    setState(live.state)
    return live.watch(setState)
  }, [])
  return state
}

/** Calls back with events in batches, for as long as the component is shown. */
export function useEvents(listener: (events: readonly LiveEvent[]) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => live.subscribe((events) => latest.current(events)), [])
}
