import { Failure } from '@unfold-mcp/core'

/** The end of a call's time. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Rejects when the client gave up or the time is over. */
  readonly passed: Promise<never>
  /** Ends the watch, for a call that is over. */
  readonly lift: () => void
}

/** What may end a call: a signal of somebody else, or the call's own controller, which is then used for its time too. */
export interface Ending {
  readonly signal?: AbortSignal | undefined
  readonly controller?: AbortController | undefined
}

/** Why a call that its client gave up ends. */
export const cancellation = (tool: string): Failure<'call_cancelled'> =>
  new Failure('call_cancelled', `The call of ${tool} was cancelled.`, { tool })

/** The deadline of a call of `tool`. */
export function deadlineOf(timeoutMs: number, ending: Ending, tool: string): Deadline {
  const { controller = new AbortController() } = ending
  const watched = ending.controller?.signal ?? ending.signal
  let reject: (failure: Failure) => void = () => undefined
  const passed = new Promise<never>((_, fail) => {
    reject = fail
  })
  passed.catch(() => undefined)
  const end = (failure: Failure): void => {
    reject(failure)
    controller.abort(failure)
  }
  const cancelled = (): void => end(cancellation(tool))
  const timer = setTimeout(() => {
    const seconds = Math.round(timeoutMs / 100) / 10
    const words = `Tool "${tool}" did not finish within ${seconds} seconds. Ask for less at once, or try again later.`
    end(new Failure('tool_timeout', words, { tool, timeoutMs }))
  }, timeoutMs)
  if (watched?.aborted === true) cancelled()
  else watched?.addEventListener('abort', cancelled, { once: true })
  return {
    signal: controller.signal,
    passed,
    lift() {
      clearTimeout(timer)
      watched?.removeEventListener('abort', cancelled)
    },
  }
}
