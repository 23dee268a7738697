import type { Deliver, Scope } from '../scope/scope.ts'

/**
 * Tells scopes that their list changed: once per settled change, only when what they see really differs from what they were
 * last told of, and never losing a change that happens while another is being told.
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

  /** From now on the scope is told of changes; what it sees at this moment counts as known. */
  attach(scope: Scope, deliver: Deliver): void {
    scope.deliver = deliver
    scope.announced = this.#fingerprint(scope)
    this.#ready.add(scope)
  }

  detach(scope: Scope): void {
    scope.deliver = undefined
    this.#ready.delete(scope)
    this.#waiting.delete(scope)
    // With nobody left to tell, a timer would only keep the process from ending.
    if (this.#ready.size === 0) this.close()
  }

  /** The client has just read its list: of what it saw there is nothing to tell. */
  known(scope: Scope): void {
    if (scope.deliver !== undefined) scope.announced = this.#fingerprint(scope)
  }

  /**
   * Notifies these scopes now, if their view changed; done when the notifications are on their way. Resolves to whether the
   * caller was notified on a stream, so that it can list again at once.
   */
  async tell(
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
      scope.toldAt ??= this.#now()
      const delivered = scope.deliver(scope === caller?.scope ? caller.alongside : undefined)
      if (scope === caller?.scope) callerNotified = delivered
      sent.push(delivered)
    }
    await Promise.all(sent)
    return (await callerNotified) === true
  }

  /** Tells these scopes, or all, soon: changes made together are told together. */
  tellSoon(scopes: Iterable<Scope> = this.#ready): void {
    for (const scope of scopes) this.#waiting.add(scope)
    if (this.#scheduled || this.#waiting.size === 0) return
    this.#scheduled = true
    setTimeout(() => {
      this.#scheduled = false
      const waiting = this.#waiting
      this.#waiting = new Set()
      // A list that cannot be made says so to whoever reads it; a timer has nobody to tell.
      this.tell(waiting).catch(() => undefined)
    }, 0)
  }

  /** Tells all, soon the first time and then no more often than this: for what changes all the time. The last is never lost. */
  tellPaced(everyMs: number): void {
    if (this.#paced !== undefined || this.#ready.size === 0) return
    const wait = Math.max(0, this.#pacedAt + everyMs - this.#now())
    this.#paced = setTimeout(() => {
      this.#paced = undefined
      this.#pacedAt = this.#now()
      this.tellSoon()
    }, wait)
  }

  /** Forgets what was to be told later. */
  close(): void {
    clearTimeout(this.#paced)
    this.#paced = undefined
  }
}
