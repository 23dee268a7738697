import { Failure } from '@unfold-mcp/core'

/** The end of a call's time. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Rejects when the client gave up or the time is over. */
  readonly passed: Promise<never>
  /** Ends the watch, for a call that is over. */
  readonly lift: () => void
}

/** The deadline of a call of `tool` that any of these signals may cancel. */
export function deadlineOf(timeoutMs: number, given: readonly (AbortSignal | undefined)[], tool: string): Deadline {
  const controller = new AbortController()
  let reject: (failure: Failure) => void = () => undefined
  const passed = new Promise<never>((_, fail) => {
    reject = fail
  })
  passed.catch(() => undefined)
  const signals = given.filter((signal) => signal !== undefined)
  const end = (failure: Failure): void => {
    controller.abort(failure)
    reject(failure)
  }
  const cancelled = (): void => end(new Failure('call_cancelled', `The call of ${tool} was cancelled.`, { tool }))
  const seconds = Math.round(timeoutMs / 100) / 10
  const timer = setTimeout(() => {
    end(
      new Failure(
        'tool_timeout',
        `Tool "${tool}" did not finish within ${seconds} seconds. Ask for less at once, or try again later.`,
        { tool, timeoutMs },
      ),
    )
  }, timeoutMs)
  for (const signal of signals) {
    if (signal.aborted) cancelled()
    else signal.addEventListener('abort', cancelled, { once: true })
  }
  return {
    signal: controller.signal,
    passed,
    lift() {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', cancelled)
    },
  }
}
