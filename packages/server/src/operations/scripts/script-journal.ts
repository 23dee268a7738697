import type { CallOutcome } from '../../scripts/engine.ts'
import type { ScriptStore } from '../../stores/script-store.ts'
import type { StateCipher } from '../../stores/state-cipher.ts'
import type { ScriptState } from './paused-script.ts'
import { rejectedState } from './paused-script.ts'

/** What happened after a paused script continued, in order. */
export type JournalEvent = { readonly sent: number } | { readonly settled: readonly CallOutcome[] }

interface JournalOptions {
  readonly store: ScriptStore
  readonly cipher: StateCipher
  readonly state: ScriptState
}

interface ClaimRecord {
  readonly process: string
  readonly isOver?: boolean
}

// A claim outlives its state, so that an expired state is never used again.
const claimMarginMs = 3_600_000

/**
 * The continuation of one paused script, which happens once. It records every call before it is sent, so that another process can
 * tell what happened if this one dies.
 */
export class ScriptJournal {
  /** What a process that died has recorded. */
  readonly past: readonly JournalEvent[]
  readonly #options: JournalOptions
  #length: number

  private constructor(options: JournalOptions, past: readonly JournalEvent[]) {
    this.#options = options
    this.past = past
    this.#length = past.length
  }

  /** Claims a state for this process; throws if it was used before, unless by a process that died. */
  static async claim(options: JournalOptions): Promise<ScriptJournal> {
    const { store, state } = options
    const record: ClaimRecord = { process: store.process }
    let key = claimKey(state)
    let isTaken = false
    // Each process that died was replaced by at most one other.
    for (;;) {
      const found = await store.add(key, JSON.stringify(record), expiryOf(state))
      if (found === undefined) break
      const holder = JSON.parse(found) as ClaimRecord
      if (holder.isOver === true || holder.process === store.process || (await store.isRunning(holder.process)))
        throw rejectedState('its answer was already used')
      key = `${claimKey(state)}>${holder.process}`
      isTaken = true
    }
    return new ScriptJournal(options, isTaken ? await eventsOf(options) : [])
  }

  async add(event: JournalEvent): Promise<void> {
    const { store, cipher, state } = this.#options
    const index = this.#length++
    const key = eventKey(state, index)
    await store.set(key, cipher.encrypt(Buffer.from(JSON.stringify(event)), key), expiryOf(state))
  }

  /** Removes the events: the continuation ended, or paused again. */
  async end(): Promise<void> {
    const { store, state } = this.#options
    const over: ClaimRecord = { process: store.process, isOver: true }
    await store.set(claimKey(state), JSON.stringify(over), expiryOf(state))
    await store.delete(Array.from({ length: this.#length }, (_, index) => eventKey(state, index)))
  }
}

async function eventsOf({ store, cipher, state }: JournalOptions): Promise<readonly JournalEvent[]> {
  const events: JournalEvent[] = []
  for (;;) {
    const key = eventKey(state, events.length)
    const found = await store.get(key)
    if (found === undefined) return events
    const bytes = cipher.decrypt(found, key)
    if (bytes === undefined) throw rejectedState('the record of its calls cannot be read')
    events.push(JSON.parse(bytes.toString('utf8')) as JournalEvent)
  }
}

const expiryOf = ({ expiresAt }: ScriptState): number => expiresAt + claimMarginMs
const claimKey = ({ run, generation }: ScriptState): string => `claim:${run}:${generation}`
const eventKey = ({ run, generation }: ScriptState, index: number): string => `event:${run}:${generation}:${index}`
