import type { Deliver, Scope } from '../scope/scope.ts'

/**
 * Notifies clients that their list changed: once per settled change, only if the list differs from the one last announced, and
 * without losing a change that happens during a notification.
 */
export class Announcer {
  readonly #fingerprint: (scope: Scope) => string
  readonly #now: () => number
  readonly #ready = new Set<Scope>()
  #waiting = new Set<Scope>()
  #scheduled = false
  #paced: NodeJS.Timeout | undefined
  #pacedAt = Number.NEGATIVE_INFINITY

  constructor(fingerprint: (scope: Scope) => string, now: () => number) {
    this.#fingerprint = fingerprint
    this.#now = now
  }

  /** Starts notifying a scope; its current view counts as known. */
  attach(scope: Scope, deliver: Deliver): void {
    scope.deliver = deliver
    scope.announced = this.#fingerprint(scope)
    this.#ready.add(scope)
  }

  detach(scope: Scope): void {
    scope.deliver = undefined
    this.#ready.delete(scope)
    this.#waiting.delete(scope)
    // A pending timer would keep the process alive.
    if (this.#ready.size === 0) this.close()
  }

  /** Records that the client has just read its list. */
  markKnown(scope: Scope): void {
    if (scope.deliver !== undefined) scope.announced = this.#fingerprint(scope)
  }

  /**
   * Notifies these scopes now if their view changed. Resolves to whether the caller was notified on a stream, so that it can list
   * again at once.
   */
  async notify(
    scopes: Iterable<Scope>,
    caller?: { readonly scope: Scope; readonly alongside: (() => Promise<void>) | undefined },
  ): Promise<boolean> {
    const sent: Promise<unknown>[] = []
    let callerNotified: Promise<unknown> | undefined
    for (const scope of scopes) {
      this.#waiting.delete(scope)
      if (scope.deliver === undefined) continue
      const fingerprint = this.#fingerprint(scope)
      if (fingerprint === scope.announced) continue
      scope.announced = fingerprint
      scope.notifiedAt ??= this.#now()
      const delivered = scope.deliver(scope === caller?.scope ? caller.alongside : undefined)
      if (scope === caller?.scope) callerNotified = delivered
      sent.push(delivered)
    }
    await Promise.all(sent)
    return (await callerNotified) === true
  }

  /** Notifies these scopes, or all, in the next turn: changes made together cause one notification. */
  notifySoon(scopes: Iterable<Scope> = this.#ready): void {
    for (const scope of scopes) this.#waiting.add(scope)
    if (this.#scheduled || this.#waiting.size === 0) return
    this.#scheduled = true
    setTimeout(() => {
      this.#scheduled = false
      const waiting = this.#waiting
      this.#waiting = new Set()
      // A list that cannot be built throws again where it is read.
      this.notify(waiting).catch(() => undefined)
    }, 0)
  }

  /** Notifies all scopes at most once per interval, for facts that change all the time. The last change is never lost. */
  notifyPaced(everyMs: number): void {
    if (this.#paced !== undefined || this.#ready.size === 0) return
    const wait = Math.max(0, this.#pacedAt + everyMs - this.#now())
    this.#paced = setTimeout(() => {
      this.#paced = undefined
      this.#pacedAt = this.#now()
      this.notifySoon()
    }, wait)
  }

  /** Cancels pending notifications. */
  close(): void {
    clearTimeout(this.#paced)
    this.#paced = undefined
  }
}
