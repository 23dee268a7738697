import { Failure } from '@unfold-mcp/core'

export interface Deadline {
  readonly signal: AbortSignal
  /** Rejects when the call is cancelled or times out. */
  readonly passed: Promise<never>
  /** Stops the timer of a finished call. */
  readonly lift: () => void
}

/** A signal from outside, or the call's own controller, which is then also aborted by the timeout. */
export interface Ending {
  readonly signal?: AbortSignal | undefined
  readonly controller?: AbortController | undefined
}

export const cancellation = (tool: string): Failure<'call_cancelled'> =>
  new Failure('call_cancelled', `The call of ${tool} was cancelled.`, { tool })

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
