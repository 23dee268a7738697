import type { Scope } from '../scope/scope.ts'
import type { Announcer } from './announcer.ts'

// A client that lists again does so within moments; many wait a third of a second for further changes first.
const relistLimitMs = 1_000

/** Learns which clients list again after a notification, and waits for those that do. */
export class Relists {
  /** How long the reply to an activation waits for the client to list again. */
  timeoutMs: number
  readonly #announcer: Announcer
  readonly #now: () => number

  constructor(announcer: Announcer, now: () => number, timeoutMs: number) {
    this.#announcer = announcer
    this.#now = now
    this.timeoutMs = timeoutMs
  }

  /**
   * Records that the client listed its tools, and releases the replies that wait for it. `known`: fingerprint of a list that another
   * replica served; default: the current one.
   */
  noteList(scope: Scope, known?: string): void {
    scope.notifiedAt = undefined
    for (const relisted of scope.relisted ?? []) relisted()
    if (!scope.neverRelists) return
    scope.neverRelists = false
    if (known === undefined) this.#announcer.markKnown(scope)
    else scope.announced = known
  }

  /** Records that a client did not list again after it was notified. */
  noteSilence(scope: Scope): void {
    if (scope.notifiedAt !== undefined && this.#now() - scope.notifiedAt > relistLimitMs) scope.neverRelists = true
  }

  /**
   * Waits until the client has listed its tools again after a notification, so that its model can call the new tools in its next
   * turn. Gives up after `timeoutMs`, and then does not wait for this client again. Does not wait for hosts that re-list too late
   * or never.
   */
  async wait(scope: Scope): Promise<void> {
    const { timeoutMs } = this
    // A client that has listed since it was notified did so while the notification was being sent.
    if (scope.notifiedAt === undefined || !scope.awaitsRelist || scope.missesChanges || timeoutMs === 0) return
    scope.awaitsRelist = await new Promise<boolean>((resolve) => {
      const end = (hasListed: boolean): void => {
        clearTimeout(timer)
        scope.relisted?.delete(listed)
        resolve(hasListed)
      }
      const listed = (): void => end(true)
      const timer = setTimeout(() => end(false), timeoutMs)
      scope.relisted ??= new Set()
      scope.relisted.add(listed)
    })
  }
}
