import { Failure, Semaphore } from '@unfold-mcp/core'
import type { Scope } from '../scope/scope.ts'
import { sharePath } from '../scope/share-path.ts'

/** Maximum number of running and queued calls of all clients together. */
export interface CallLimits {
  readonly concurrency: number
  readonly queue: number
}

// A search blocks the process while it runs, so more at once are not faster, except where they wait for an embedder.
const searchLimits: CallLimits = { concurrency: 4, queue: 256 }

interface Work<T> {
  readonly scope: Scope
  readonly signal: AbortSignal | undefined
  readonly run: () => Promise<T>
}

/** Slots for the searches and calls of all clients, which take turns. */
export class Slots {
  readonly #searches: Semaphore
  readonly #calls: Semaphore | undefined

  constructor(calls: CallLimits | undefined) {
    this.#searches = new Semaphore(() => searchLimits)
    this.#calls = calls === undefined ? undefined : new Semaphore(() => calls)
  }

  /** Runs a search when it is the turn of its client. Throws `busy` when the queue, or the client's share of it, is full. */
  search<T>(work: Work<T>): Promise<T> {
    return inTurn(this.#searches, work, 'searches')
  }

  /** Runs a handler, like `search`. Without limits it runs at once. */
  call<T>(work: Work<T>): Promise<T> {
    return this.#calls === undefined ? work.run() : inTurn(this.#calls, work, 'calls')
  }
}

async function inTurn<T>(slots: Semaphore, { scope, signal, run }: Work<T>, what: 'searches' | 'calls'): Promise<T> {
  const path = sharePath(scope)
  const release = slots.tryAcquire(signal, path) ?? (await slots.acquire(signal, path))
  if (release === undefined) throw busy(slots, what)
  try {
    return await run()
  } finally {
    // Work that never waits would otherwise run to the last in the queue before the requests from other clients are read.
    soon(release)
  }
}

function busy({ running, waiting }: Semaphore, what: 'searches' | 'calls'): Failure<'busy'> {
  const message = `The server is busy (${what} running: ${running}, queued: ${waiting}). This one was not started; wait for your others to finish, then try again.`
  return new Failure('busy', message, { running, waiting })
}

const soon: (work: () => void) => void = typeof setImmediate === 'function' ? setImmediate : (work) => setTimeout(work, 0)
