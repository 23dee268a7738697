import { setTimeout as wait } from 'node:timers/promises'
import { CommandError, exit } from '../base/exit.ts'
import type { Output } from '../output/output.ts'

export interface PollOptions {
  readonly signal: AbortSignal
  readonly output: Output
  readonly intervalMs: number
}

/** Repeats a request until interrupted or until the gateway has stopped. */
export async function poll(request: () => Promise<void>, { signal, output, intervalMs }: PollOptions): Promise<number> {
  while (!signal.aborted) {
    try {
      await request()
      await wait(intervalMs, undefined, { signal })
    } catch (error) {
      if (signal.aborted) break
      if (!(error instanceof CommandError) || error.reason !== 'unreachable') throw error
      output.note('The gateway has stopped.')
      return exit.ok
    }
  }
  return exit.interrupted
}
