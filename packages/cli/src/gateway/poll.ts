import { setTimeout as wait } from 'node:timers/promises'
import { CommandError, exit } from '../base/exit.ts'
import type { Output } from '../output/output.ts'

export interface RoundsOptions {
  readonly signal: AbortSignal
  readonly output: Output
  /** How long to rest after each round. */
  readonly everyMs: number
}

/** Asks a gateway round after round, until somebody interrupts it or the gateway has ended. */
export async function rounds(ask: () => Promise<void>, { signal, output, everyMs }: RoundsOptions): Promise<number> {
  while (!signal.aborted) {
    try {
      await ask()
      await wait(everyMs, undefined, { signal })
    } catch (error) {
      if (signal.aborted) break
      if (!(error instanceof CommandError) || error.reason !== 'unreachable') throw error
      output.note('The gateway has ended.')
      return exit.ok
    }
  }
  return exit.interrupted
}
