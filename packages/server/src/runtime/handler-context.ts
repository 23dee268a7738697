import { AsyncLocalStorage } from 'node:async_hooks'
import type { Runtime } from './runtime.ts'

/** The handler in which code runs, including the timers and promises that it started. */
export interface HandlerContext {
  readonly runtime: Runtime
  readonly tool: string
}

const storage = new AsyncLocalStorage<HandlerContext>()
let readers = 0

/** Runs a handler. Keeping track of it costs time in every promise, so it happens only while somebody reads it. */
export function inHandler<T>(context: HandlerContext, work: () => T): T {
  return readers === 0 ? work() : storage.run(context, work)
}

export const currentHandler = (): HandlerContext | undefined => storage.getStore()

/** Keeps track of handlers until the returned function is called. */
export function trackHandlers(): () => void {
  readers++
  let isTracked = true
  return () => {
    if (isTracked) readers--
    isTracked = false
    if (readers === 0) storage.disable()
  }
}
