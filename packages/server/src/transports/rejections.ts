import { currentHandler, type HandlerContext, trackHandlers } from '../runtime/handler-context.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { errorMessage } from '../tool/report.ts'

export interface RejectionOptions {
  /**
   * Reports promises of handlers that are rejected and that nobody handles, and keeps serving; without this, Node ends the process.
   * Has no effect if the program has its own `unhandledRejection` listener or sets `--unhandled-rejections`. Default: true.
   */
  readonly reportRejections?: boolean
}

/** Rejections that a server reports: those of its own handlers, of handlers of any toolbox, or all of the process. */
type Reported = 'own' | 'handlers' | 'process'

interface Watched {
  readonly runtime: Runtime
  readonly reported: Reported
}

const watched = new Set<Watched>()

/** Reports unhandled rejections of a server until the returned function is called. */
export function watchRejections(runtime: Runtime, reported: Reported): () => void {
  if (hasOtherListener() || hasOwnMode()) return () => undefined
  const entry: Watched = { runtime, reported }
  const stopTracking = trackHandlers()
  if (watched.size === 0) process.on('unhandledRejection', onRejection)
  watched.add(entry)
  return () => {
    stopTracking()
    watched.delete(entry)
    if (watched.size === 0) process.off('unhandledRejection', onRejection)
  }
}

const hasOtherListener = (): boolean => process.listeners('unhandledRejection').some((listener) => listener !== onRejection)

// The author has decided what a rejection does.
const hasOwnMode = (): boolean =>
  [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')].some((flag) => flag.startsWith('--unhandled-rejections'))

function onRejection(reason: unknown): void {
  // The program has added its own listener since.
  if (hasOtherListener()) return
  const handler = currentHandler()
  const runtime = reporterOf(handler)
  // What Node does without a listener: the rejection belongs to another part of the program.
  if (runtime === undefined) throw reason instanceof Error ? reason : new Error(`Unhandled rejection: ${errorMessage(reason)}`)
  const where = handler === undefined ? '' : ` of tool "${handler.tool}"`
  const advice = 'The server keeps running. Await the promise, or handle its error.'
  runtime.declaration.report({
    reason: handler === undefined ? 'internal_error' : 'tool_failed',
    message: `Unhandled rejection${where}: ${errorMessage(reason) || 'no message'}. ${advice}`,
    error: reason,
  })
}

function reporterOf(handler: HandlerContext | undefined): Runtime | undefined {
  const all = [...watched]
  const isReported = ({ runtime, reported }: Watched): boolean => runtime === handler?.runtime || reported === 'handlers'
  if (handler !== undefined && all.some(isReported)) return handler.runtime
  return all.find(({ reported }) => reported === 'process')?.runtime
}
