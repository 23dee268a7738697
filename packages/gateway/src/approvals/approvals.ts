import { randomBytes, randomUUID } from 'node:crypto'
import { type InputRequiredResult, isInputRequiredResult } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import { isProcessRunning } from '../base/process-running.ts'
import { ShuttingDownError } from '../middleware/call-gate.ts'
import type { CallHandler, ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import type { Ask, Verdict } from '../policy/verdict.ts'
import {
  type Approval,
  type ApprovalDecision,
  answer,
  type Change,
  type Claim,
  type Claimant,
  claim,
  finish,
  resume,
  revoke,
  type Sender,
  suspend,
  withdraw,
} from './approval.ts'
import { type BoundCall, bind, digest } from './binding.ts'
import { askUser, canElicit } from './elicit.ts'
import { reportProgress } from './progress.ts'
import { decisionIn, elicitation, shownArguments } from './question.ts'
import { encodeReference, parseReference, type Reference } from './reference.ts'
import { changed, denied, effectUnknown, pending } from './refusals.ts'
import type { ApprovalStore } from './store.ts'
import { Waiters } from './waiters.ts'

/** What happened to a question. */
export interface ApprovalEvent {
  readonly outcome: 'asked' | 'approved' | 'denied' | 'expired' | 'withdrawn' | 'revoked' | 'unknown'
  readonly approval: Approval
  /** Who decided: a caller, `terminal`, or a token. */
  readonly by?: string | undefined
}

export interface ApprovalsOptions {
  /** `undefined` if approvals cannot be stored; then every call that needs one is denied. */
  readonly store: ApprovalStore | undefined
  /** Definition of a tool as its server sent it. */
  readonly definitionOf: (server: string, tool: string) => object | undefined
  readonly policyDigest: () => string
  /** How long a question stays open. */
  readonly timeoutMs: () => number
  /** Removes known secrets. */
  readonly redact: (value: unknown) => unknown
  readonly onEvent: (event: ApprovalEvent) => void
  readonly clock: Clock
  /** Default: this process. */
  readonly sender?: Sender
  readonly isRunning?: (sender: Sender) => boolean
}

const maxOpen = 256
const maxOpenPerCaller = 16
// Hosts give up after about 60 seconds unless they get progress.
const holdMs = 45_000
const inputKey = 'approval'

/** A call with what it is bound to and why a person is asked. */
interface AskedCall {
  readonly call: ProxiedCall
  readonly verdict: Verdict
  readonly bound: BoundCall
  readonly next: CallHandler
  /** True if the client can show the question to its user. */
  readonly hasForm: boolean
}

/** Asks people about calls, and sends each call at most once per approval. */
export class Approvals {
  readonly #options: ApprovalsOptions
  readonly #sender: Sender
  /** Waiting calls, by digest of the binding. */
  readonly #waiters = new Waiters()
  /** Callers of the open questions of this process. */
  readonly #open = new Map<string, string>()
  readonly #unwatch: () => void
  #isClosed = false

  constructor(options: ApprovalsOptions) {
    this.#options = options
    this.#sender = options.sender ?? { pid: process.pid, instance: randomUUID() }
    this.#unwatch = options.store?.watch(() => this.#waiters.wakeAll()) ?? (() => undefined)
    void this.#removeExpired()
  }

  /** Open questions and approvals that were not used. */
  async list(): Promise<readonly Approval[]> {
    const now = this.#options.clock.wallTime()
    return ((await this.#options.store?.list()) ?? []).filter(({ expiresAt }) => expiresAt > now)
  }

  /** Number of calls that wait for an answer. */
  async pendingCount(): Promise<number> {
    return (await this.list()).filter(({ state }) => state === 'pending').length
  }

  /** Answers an open question, or revokes an approval. Resolves once this is on disk; `undefined` if there is nothing to decide. */
  async decide(
    id: string,
    decision: ApprovalDecision | 'revoke',
    { by, session }: { readonly by: string; readonly session?: string | undefined },
  ): Promise<Approval | undefined> {
    const { store, clock } = this.#options
    const found = await store?.find(id)
    if (store === undefined || found === undefined) return undefined
    const decided = await store.update(found.call, (approvals) =>
      decision === 'revoke' ? revoke(approvals, id) : answer(approvals, id, { decision, now: clock.wallTime(), session }),
    )
    if (decided === undefined) return undefined
    if (decided.grant !== 'always') this.#expireAt(decided.expiresAt)
    const outcome = decision === 'revoke' ? 'revoked' : decision === 'deny' ? 'denied' : 'approved'
    this.#settled({ outcome, approval: decided, by })
    return decided
  }

  /** Ends waiting calls. Questions stay open for the same calls after a restart. */
  close(): void {
    this.#isClosed = true
    this.#unwatch()
    this.#waiters.wakeAll()
  }

  /** Asks a person, and sends the call once it is approved. */
  readonly ask: Ask = async (call, verdict, next) => {
    if (this.#options.store === undefined)
      throw denied(call, verdict, 'approvals cannot be stored. The operator can check "unfold status"')
    const reference = parseReference(call.ctx.requestState)
    const bound = this.#bind(call)
    if (bound === undefined) throw denied(call, verdict, 'its definition is not known')
    const received = reference === undefined ? call : withInputs(call, reference)
    const asked: AskedCall = { call: received, verdict, bound, next, hasForm: canElicit(call) }
    if (reference === undefined) return this.#proceed(asked, await this.#claimOrAsk(asked, undefined))
    if (reference.continuation !== undefined) return this.#continue(asked, reference, reference.continuation)
    const hasUser = await this.#answer(asked, call.ctx.inputResponses?.[inputKey], reference)
    return this.#proceed({ ...asked, hasForm: asked.hasForm && hasUser }, await this.#claimOrAsk(asked, reference.id))
  }

  async #proceed(asked: AskedCall, claimed: Claim): Promise<ProxiedResult> {
    const { call, verdict, next } = asked
    switch (claimed.kind) {
      case 'standing':
        return next(call)
      case 'sent':
        return this.#send(asked, claimed.approval)
      case 'denied':
        throw denied(call, verdict, 'the user denied it. Do not repeat the call')
      case 'unknown':
        this.#options.onEvent({ outcome: 'unknown', approval: claimed.approval })
        throw effectUnknown(
          call,
          verdict,
          'an identical call was approved and sent, and the gateway stopped before its result arrived. Whether it took effect is unknown. Check its effect first; calling again asks the user again.',
        )
      case 'used':
        throw effectUnknown(
          call,
          verdict,
          'the approval was already used by an earlier request with this requestState, which may have taken effect. Calling again without requestState asks the user again.',
        )
      case 'none':
        throw denied(call, verdict, 'too many calls wait for approval. Wait until some are answered, then try again')
      case 'pending':
        break
    }
    if (call.ctx.era === 'stateless' && asked.hasForm) return this.#inputRequired(claimed.approval)
    return this.#wait(asked, claimed.approval)
  }

  /** Uses an approval of the call, or finds its open question, or opens one. */
  async #claimOrAsk({ call, verdict, bound }: AskedCall, id: string | undefined): Promise<Claim> {
    const { clock, redact, timeoutMs } = this.#options
    const { key, ...binding } = bound
    const now = clock.wallTime()
    const { rule, reason } = verdict
    const question = {
      ...binding,
      ...(call.ctx.client?.name !== undefined && { agent: call.ctx.client.name }),
      arguments: shownArguments(call.input, redact),
      ...(rule !== undefined && { rule }),
      ...(reason !== undefined && { reason }),
      askedAt: now,
    }
    const opened: Approval = {
      id: randomBytes(6).toString('hex'),
      call: key,
      state: 'pending',
      grant: 'once',
      session: sessionOf(call, this.#sender),
      expiresAt: now + timeoutMs(),
      question,
    }
    const hasRoom = this.#hasRoom(bound.caller)
    // Counted before it is stored, so that concurrent calls cannot exceed the limit.
    if (hasRoom) this.#open.set(opened.id, bound.caller)
    const claimed = await this.#update(bound, (approvals) => {
      const [after, result] = claim(approvals, this.#claimant(call, id))
      if (result.kind !== 'none' || !hasRoom) return [after, result]
      return [[...after, opened], { kind: 'pending', approval: opened } as const]
    }).catch((error: unknown) => {
      this.#open.delete(opened.id)
      throw error
    })
    if (claimed.kind !== 'pending' || claimed.approval.id !== opened.id) this.#open.delete(opened.id)
    else {
      this.#expireAt(opened.expiresAt)
      this.#options.onEvent({ outcome: 'asked', approval: opened })
    }
    return claimed
  }

  /** Waits until the question is answered. */
  async #wait(asked: AskedCall, { id, expiresAt, question }: Approval): Promise<ProxiedResult> {
    const { call, verdict, bound, hasForm } = asked
    const { clock } = this.#options
    const { signal } = call.ctx
    const shownAt = clock.wallTime()
    const session = sessionOf(call, this.#sender)
    const waiter = this.#waiters.add(bound.key)
    // The answer may have arrived since the question was found.
    waiter.wake()
    const form = hasForm
      ? askUser(call, elicitation(question, session !== undefined), {
          timeoutMs: expiresAt - shownAt,
          answered: async (response) => {
            const decision = decisionIn(response, clock.wallTime() - shownAt)
            if (decision === undefined) throw new Error('The client declined without a user.')
            await this.decide(id, decision, { by: bound.caller, session })
          },
          failed: waiter.wake,
        })
      : undefined
    const progress = reportProgress(call, clock)
    const holdUntil = shownAt + holdMs
    const until = (): number => (form?.isOpen === true || progress.isRequested ? expiresAt : Math.min(expiresAt, holdUntil))
    try {
      for (;;) {
        await waiter.wait(clock, until() - clock.wallTime(), signal)
        if (signal.aborted) {
          if (this.#waiters.count(bound.key) === 1) await this.#withdraw(bound, id)
          throw denied(call, verdict, 'the client cancelled the call or disconnected')
        }
        if (this.#isClosed) throw new ShuttingDownError()
        if (this.#bind(call)?.key !== bound.key) throw changed(call, verdict)
        const claimed = await this.#update(bound, (approvals) => claim(approvals, this.#claimant(call, undefined)))
        if (claimed.kind === 'pending') {
          if (clock.wallTime() >= until()) throw pending(call, verdict)
          continue
        }
        if (claimed.kind !== 'none') return await this.#proceed(asked, claimed)
        if (clock.wallTime() < expiresAt) break
        await this.#removeExpired()
        throw denied(
          call,
          verdict,
          'nobody approved it in time. Ask the user to run "unfold approvals --watch", then call it again',
        )
      }
    } finally {
      form?.close()
      progress.stop()
      this.#waiters.remove(bound.key, waiter)
    }
    // Another, identical call used the approval.
    return this.#proceed(asked, await this.#claimOrAsk(asked, undefined))
  }

  /** Sends a call whose approval is marked as sent, and marks it as done afterwards. */
  async #send({ call, verdict, bound, next }: AskedCall, { id }: Approval): Promise<ProxiedResult> {
    const { clock } = this.#options
    let isSuspended = false
    try {
      if (this.#bind(call)?.key !== bound.key) throw changed(call, verdict)
      const result = await next(call)
      if (!isInputRequiredResult(result)) return result
      const continuation = randomUUID()
      await this.#update(bound, (approvals) => [suspend(approvals, id, { continuation, now: clock.wallTime() }), undefined])
      isSuspended = true
      return { ...result, requestState: encodeReference({ id, continuation, inner: result.requestState }) }
    } finally {
      // If this fails, the next identical call is answered with "unknown effect" after a restart.
      if (!isSuspended)
        await this.#update(bound, (approvals) => [finish(approvals, id, clock.wallTime()), undefined]).catch(() => undefined)
    }
  }

  /** Continues a call with the input that its server asked for. */
  async #continue(asked: AskedCall, { id }: Reference, continuation: string): Promise<ProxiedResult> {
    const now = this.#options.clock.wallTime()
    const sent = await this.#update(asked.bound, (approvals) =>
      resume(approvals, id, { continuation, now, sender: this.#sender }),
    )
    if (sent !== undefined) return this.#send(asked, sent)
    throw denied(
      asked.call,
      asked.verdict,
      'its requestState was already used, expired, or belongs to another call. Start again without requestState',
    )
  }

  /** Applies the answer in a repeated request of a 2026-07-28 client. Returns false if the client declined without a user. */
  async #answer({ call, verdict, bound }: AskedCall, response: unknown, { id, shownAt = 0 }: Reference): Promise<boolean> {
    if (response === undefined) return true
    const found = await this.#options.store?.find(id)
    const now = this.#options.clock.wallTime()
    if (found === undefined || (found.state === 'pending' && found.expiresAt <= now))
      throw denied(call, verdict, 'the answer came too late. Calling again without requestState asks the user again')
    // One changed byte is another call, which asks again.
    if (found.call !== bound.key) return true
    const decision = decisionIn(response, now - shownAt)
    if (decision !== undefined) await this.decide(id, decision, { by: bound.caller })
    return decision !== undefined
  }

  /** The question as a result, which a 2026-07-28 client shows to its user. */
  #inputRequired({ id, question }: Approval): InputRequiredResult {
    return {
      resultType: 'input_required',
      inputRequests: { [inputKey]: { method: 'elicitation/create', params: elicitation(question, false) } },
      requestState: encodeReference({ id, shownAt: this.#options.clock.wallTime() }),
    }
  }

  async #withdraw(bound: BoundCall, id: string): Promise<void> {
    const withdrawn = await this.#update(bound, (approvals) => withdraw(approvals, id))
    if (withdrawn !== undefined) this.#settled({ outcome: 'withdrawn', approval: withdrawn })
  }

  #expireAt(time: number): void {
    const { clock } = this.#options
    clock.after(time - clock.wallTime(), () => void this.#removeExpired(), true)
  }

  async #removeExpired(): Promise<void> {
    const { store, clock } = this.#options
    const expired = (await store?.removeExpired(clock.wallTime()).catch(() => undefined)) ?? []
    for (const approval of expired)
      if (approval.state === 'pending' || (approval.state === 'approved' && approval.grant === 'once'))
        this.#settled({ outcome: 'expired', approval })
  }

  #settled(event: ApprovalEvent): void {
    this.#open.delete(event.approval.id)
    this.#options.onEvent(event)
    this.#waiters.wake(event.approval.call)
  }

  #bind(call: ProxiedCall): BoundCall | undefined {
    const definition = this.#options.definitionOf(call.upstream, call.tool)
    return definition === undefined ? undefined : bind(call, definition, this.#options.policyDigest())
  }

  #update<T>({ key }: BoundCall, change: (approvals: readonly Approval[]) => Change<T>): Promise<T> {
    const { store } = this.#options
    return store === undefined ? Promise.reject(new Error('Approvals cannot be stored.')) : store.update(key, change)
  }

  #claimant(call: ProxiedCall, id: string | undefined): Claimant {
    const { clock, isRunning = (sender) => this.#isRunning(sender) } = this.#options
    return { now: clock.wallTime(), session: sessionOf(call, this.#sender), sender: this.#sender, isRunning, id }
  }

  /** True if the process may still get the result of a call. */
  #isRunning({ pid, instance }: Sender): boolean {
    return pid === this.#sender.pid ? instance === this.#sender.instance : isProcessRunning(pid)
  }

  #hasRoom(caller: string): boolean {
    const own = [...this.#open.values()].filter((each) => each === caller).length
    return this.#open.size < maxOpen && own < maxOpenPerCaller
  }
}

/** Hash of the session of a call, which a restart ends. */
function sessionOf({ ctx }: ProxiedCall, { instance }: Sender): string | undefined {
  return ctx.era === 'session' ? digest([instance, ctx.scope]).slice(0, 16) : undefined
}

/** The call as its server gets it: without the inputs that are meant for the gateway. */
function withInputs(call: ProxiedCall, { continuation, inner }: Reference): ProxiedCall {
  const inputResponses = continuation === undefined ? undefined : call.ctx.inputResponses
  // A getter, which is not copied.
  const { request } = call.ctx
  return { ...call, ctx: { ...call.ctx, request, requestState: inner, inputResponses } }
}
