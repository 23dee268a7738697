import { randomUUID } from 'node:crypto'
import { type InputRequiredResult, isInputRequiredResult } from '@modelcontextprotocol/server'
import { ShuttingDownError } from '../middleware/call-gate.ts'
import type { CallHandler, ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import type { Verdict } from '../policy/verdict.ts'
import { type Approval, type Claim, finish, resume, suspend } from './approval.ts'
import type { Approvals } from './approvals.ts'
import type { BoundCall } from './binding.ts'
import { askUser, canElicit } from './elicit.ts'
import { reportProgress } from './progress.ts'
import { decisionIn, elicitation } from './question.ts'
import { encodeReference, parseReference, type Reference } from './reference.ts'
import { changed, denied, effectUnknown, pending } from './refusals.ts'

// Hosts give up after about 60 seconds unless they get progress.
const holdMs = 45_000
const inputKey = 'approval'

/** A call with what it is bound to and why a person is asked. */
export interface Asked {
  readonly call: ProxiedCall
  readonly verdict: Verdict
  readonly bound: BoundCall
}

/** One call that needs approval: waits for the answer, and is sent at most once per approval. */
class AskedCall {
  readonly #asked: Asked
  readonly #next: CallHandler
  readonly #approvals: Approvals
  readonly #session: string | undefined
  /** True if the client can show the question to its user. */
  #hasForm: boolean

  constructor(asked: Asked, next: CallHandler, approvals: Approvals) {
    this.#asked = asked
    this.#next = next
    this.#approvals = approvals
    this.#session = approvals.sessionOf(asked.call)
    this.#hasForm = canElicit(asked.call)
  }

  /** Uses an approval, or asks. `id`: the approval that a repeated request refers to. */
  async run(id?: string): Promise<ProxiedResult> {
    return this.#proceed(await this.#approvals.claimOrAsk(this.#asked, id))
  }

  /** Continues a call with the input that its server asked for. */
  async continue(id: string, continuation: string): Promise<ProxiedResult> {
    const { call, verdict, bound } = this.#asked
    const { clock, sender } = this.#approvals
    const now = clock.wallTime()
    const sent = await this.#approvals.update(bound, (approvals) => resume(approvals, id, { continuation, now, sender }))
    if (sent !== undefined) return this.#send(sent)
    throw denied(
      call,
      verdict,
      'its requestState was already used, expired, or belongs to another call. Start again without requestState',
    )
  }

  /** Applies the answer in a repeated request of a 2026-07-28 client, and runs it. */
  async answer({ id, shownAt = 0 }: Reference, response: unknown): Promise<ProxiedResult> {
    const { call, verdict, bound } = this.#asked
    const approvals = this.#approvals
    if (response === undefined) return this.run(id)
    const found = await approvals.find(id)
    const now = approvals.clock.wallTime()
    if (found === undefined || (found.state === 'pending' && found.expiresAt <= now))
      throw denied(call, verdict, 'the answer came too late. Calling again without requestState asks the user again')
    // One changed byte is another call, which asks again.
    if (found.call === bound.key) {
      const decision = decisionIn(response, now - shownAt)
      // A client that declines without a user cannot show the question again.
      if (decision === undefined) this.#hasForm = false
      else await approvals.decide(id, decision, { by: bound.caller })
    }
    return this.run(id)
  }

  async #proceed(claimed: Claim): Promise<ProxiedResult> {
    const { call, verdict } = this.#asked
    switch (claimed.kind) {
      case 'standing':
        call.note?.('approval_granted')
        return this.#next(call)
      case 'sent':
        return this.#send(claimed.approval)
      case 'denied':
        call.note?.('approval_refused')
        throw denied(call, verdict, 'the user denied it. Do not repeat the call')
      case 'unknown':
        this.#approvals.reportUnknown(claimed.approval)
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
        call.note?.('approval_asked')
        break
    }
    return call.ctx.era === 'stateless' && this.#hasForm ? this.#inputRequired(claimed.approval) : this.#wait(claimed.approval)
  }

  #inputRequired({ id, question }: Approval): InputRequiredResult {
    const params = elicitation(question, this.#session !== undefined)
    return {
      resultType: 'input_required',
      inputRequests: { [inputKey]: { method: 'elicitation/create', params } },
      requestState: encodeReference({ id, replica: this.#approvals.replica, shownAt: this.#approvals.clock.wallTime() }),
    }
  }

  /** Waits until the question is answered. */
  async #wait({ id, expiresAt, question }: Approval): Promise<ProxiedResult> {
    const { call, verdict, bound } = this.#asked
    const approvals = this.#approvals
    const { clock, waiters } = approvals
    const { signal } = call.ctx
    const session = this.#session
    const shownAt = clock.wallTime()
    const waiter = waiters.add(bound.key)
    // The answer may have arrived since the question was found.
    waiter.wake()
    const form = this.#hasForm
      ? askUser(call, elicitation(question, session !== undefined), {
          timeoutMs: expiresAt - shownAt,
          answered: async (response) => {
            const decision = decisionIn(response, clock.wallTime() - shownAt)
            if (decision === undefined) throw new Error('The client declined without a user.')
            await approvals.decide(id, decision, { by: bound.caller, session })
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
          if (waiters.count(bound.key) === 1) await approvals.withdraw(bound, id)
          throw denied(call, verdict, 'the client cancelled the call or disconnected')
        }
        if (approvals.isClosed) throw new ShuttingDownError()
        this.#refuseChanged()
        const claimed = await approvals.claim(this.#asked)
        if (claimed.kind === 'pending') {
          if (clock.wallTime() >= until()) throw pending(call, verdict)
          continue
        }
        if (claimed.kind !== 'none') return await this.#proceed(claimed)
        if (clock.wallTime() < expiresAt) break
        await approvals.removeExpired()
        throw denied(
          call,
          verdict,
          'nobody approved it in time. Ask the user to run "unfold approvals --watch", then call it again',
        )
      }
    } finally {
      form?.close()
      progress.stop()
      waiters.remove(bound.key, waiter)
    }
    // Another, identical call used the approval.
    return this.run()
  }

  /** Sends a call whose approval is marked as sent, and marks it as done afterwards. */
  async #send({ id }: Approval): Promise<ProxiedResult> {
    const { call, verdict, bound } = this.#asked
    const approvals = this.#approvals
    const { clock } = approvals
    let isSuspended = false
    try {
      this.#refuseChanged()
      call.note?.('approval_granted')
      const result = await this.#next(call)
      if (!isInputRequiredResult(result)) return result
      const continuation = randomUUID()
      await approvals
        .update(bound, (all) => [suspend(all, id, { continuation, now: clock.wallTime() }), undefined])
        .catch(() => {
          throw effectUnknown(
            call,
            verdict,
            'it was sent, but cannot continue with the input that its server asks for, because approvals cannot be written at the moment. Whether it took effect is unknown. Check its effect first.',
          )
        })
      isSuspended = true
      return {
        ...result,
        requestState: encodeReference({ id, replica: approvals.replica, continuation, inner: result.requestState }),
      }
    } finally {
      // If this fails, the next identical call is answered with "unknown effect" after a restart.
      if (!isSuspended)
        await approvals.update(bound, (all) => [finish(all, id, clock.wallTime()), undefined]).catch(() => undefined)
    }
  }

  /** Throws if the approval would apply to another tool or policy than the call. */
  #refuseChanged(): void {
    const { call, verdict, bound } = this.#asked
    if (this.#approvals.bind(call)?.key !== bound.key) throw changed(call, verdict)
  }
}

/** Runs a call that needs approval. Its `requestState` may refer to an earlier request. */
export async function runAsked(asked: Asked, next: CallHandler, approvals: Approvals): Promise<ProxiedResult> {
  const { requestState, inputResponses } = asked.call.ctx
  const reference = parseReference(requestState)
  if (reference === undefined) return new AskedCall(asked, next, approvals).run()
  const { id, replica, continuation } = reference
  if (replica !== undefined && approvals.replica !== undefined && replica !== approvals.replica)
    throw denied(
      asked.call,
      asked.verdict,
      'its question is at another replica of the gateway. Send the same request again, or call again without requestState to ask the user again',
    )
  const repeated = new AskedCall({ ...asked, call: withInputs(asked.call, reference) }, next, approvals)
  return continuation === undefined ? repeated.answer(reference, inputResponses?.[inputKey]) : repeated.continue(id, continuation)
}

/** The call as its server gets it: without the inputs that are meant for the gateway. */
function withInputs(call: ProxiedCall, { continuation, inner }: Reference): ProxiedCall {
  const inputResponses = continuation === undefined ? undefined : call.ctx.inputResponses
  // A getter, which is not copied.
  const { request } = call.ctx
  return { ...call, ctx: { ...call.ctx, request, requestState: inner, inputResponses } }
}
