import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '@unfold-mcp/client'
import { isProcessRunning } from '../base/process-running.ts'
import type { Replica } from '../base/replica.ts'
import type { ProxiedCall } from '../middleware/chain.ts'
import type { Ask } from '../policy/verdict.ts'
import {
  type Approval,
  type ApprovalDecision,
  answer,
  type Change,
  type Claim,
  type Claimant,
  claim,
  revoke,
  type Sender,
  withdraw,
} from './approval.ts'
import { type Asked, runAsked } from './asked-call.ts'
import { type BoundCall, bind, sessionOf } from './binding.ts'
import { shownArguments } from './question.ts'
import { denied } from './refusals.ts'
import type { ApprovalStore } from './store.ts'
import { ApprovalsUnavailable, available } from './unavailable.ts'
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
  /** Set if there are several replicas. */
  readonly replica?: Replica | undefined
}

const maxOpen = 256
const maxOpenPerCaller = 16

/** Questions about calls, their answers, and the calls that wait for them. */
export class Approvals {
  readonly sender: Sender
  /** Waiting calls, by digest of the binding. */
  readonly waiters = new Waiters()
  readonly #options: ApprovalsOptions
  /** Callers of the open questions of this process. */
  readonly #open = new Map<string, string>()
  readonly #unwatch: () => void
  #isClosed = false

  constructor(options: ApprovalsOptions) {
    this.#options = options
    this.sender = options.sender ?? { pid: process.pid, instance: options.replica?.id ?? randomUUID() }
    this.#unwatch = options.store?.watch(() => this.waiters.wakeAll()) ?? (() => undefined)
    void this.removeExpired()
  }

  get clock(): Clock {
    return this.#options.clock
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Open questions and approvals that were not used. */
  async list(): Promise<readonly Approval[]> {
    const now = this.#options.clock.wallTime()
    const { store } = this.#options
    return (store === undefined ? [] : await available(store.list())).filter(({ expiresAt }) => expiresAt > now)
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
    const found = await this.find(id)
    if (store === undefined || found === undefined) return undefined
    const decided = await available(
      store.update(found.call, (approvals) =>
        decision === 'revoke' ? revoke(approvals, id) : answer(approvals, id, { decision, now: clock.wallTime(), session }),
      ),
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
    this.waiters.wakeAll()
  }

  /** Asks a person, and sends the call once it is approved. */
  readonly ask: Ask = async (call, verdict, next) => {
    if (this.#options.store === undefined)
      throw denied(call, verdict, 'approvals cannot be stored. The operator can check "unfold status"')
    const bound = this.bind(call)
    if (bound === undefined) throw denied(call, verdict, 'its definition is not known')
    return runAsked({ call, verdict, bound }, next, this).catch((error: unknown) => {
      if (!(error instanceof ApprovalsUnavailable)) throw error
      throw denied(call, verdict, 'approvals cannot be read or written at the moment. The operator can check "unfold status"')
    })
  }

  /** What an approval of the call is bound to; `undefined` if its definition is not known. */
  bind(call: ProxiedCall): BoundCall | undefined {
    const definition = this.#options.definitionOf(call.upstream, call.tool)
    return definition === undefined ? undefined : bind(call, definition, this.#options.policyDigest())
  }

  /** Hash of the session of a call. A session that the replicas share does not end with one of them. */
  sessionOf(call: ProxiedCall): string | undefined {
    return sessionOf(call, this.#options.replica?.isShared === true ? '' : this.sender.instance)
  }

  /** The replica that has a question; `undefined` if every replica can answer it. */
  get replica(): string | undefined {
    const { replica } = this.#options
    return replica?.isShared === false ? replica.id : undefined
  }

  async find(id: string): Promise<Approval | undefined> {
    const { store } = this.#options
    return store === undefined ? undefined : available(store.find(id))
  }

  /** Uses an approval of the call, or finds its open question. */
  claim({ call, bound }: Asked): Promise<Claim> {
    return this.update(bound, (approvals) => claim(approvals, this.#claimant(call)))
  }

  /** Like `claim`, but opens a question if there is none. `id`: the approval that a repeated request refers to. */
  async claimOrAsk({ call, verdict, bound }: Asked, id?: string): Promise<Claim> {
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
      session: this.sessionOf(call),
      expiresAt: now + timeoutMs(),
      question,
    }
    const hasRoom = this.#hasRoom(bound.caller)
    // Counted before it is stored, so that concurrent calls cannot exceed the limit.
    if (hasRoom) this.#open.set(opened.id, bound.caller)
    const claimed = await this.update(bound, (approvals) => {
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

  /** Removes an open question: its call was cancelled. */
  async withdraw(bound: BoundCall, id: string): Promise<void> {
    const withdrawn = await this.update(bound, (approvals) => withdraw(approvals, id))
    if (withdrawn !== undefined) this.#settled({ outcome: 'withdrawn', approval: withdrawn })
  }

  /** Reports questions and approvals whose time is over. */
  async removeExpired(): Promise<void> {
    const { store, clock } = this.#options
    const expired = (await store?.removeExpired(clock.wallTime()).catch(() => undefined)) ?? []
    for (const approval of expired)
      if (approval.state === 'pending' || (approval.state === 'approved' && approval.grant === 'once'))
        this.#settled({ outcome: 'expired', approval })
  }

  /** Changes the approvals of a call atomically. */
  update<T>({ key }: BoundCall, change: (approvals: readonly Approval[]) => Change<T>): Promise<T> {
    const { store } = this.#options
    return store === undefined ? Promise.reject(new Error('Approvals cannot be stored.')) : available(store.update(key, change))
  }

  /** The effect of an approved call is unknown. */
  reportUnknown(approval: Approval): void {
    this.#options.onEvent({ outcome: 'unknown', approval })
  }

  #expireAt(time: number): void {
    const { clock } = this.#options
    clock.after(time - clock.wallTime(), () => void this.removeExpired(), true)
  }

  #settled(event: ApprovalEvent): void {
    this.#open.delete(event.approval.id)
    this.#options.onEvent(event)
    this.waiters.wake(event.approval.call)
  }

  #claimant(call: ProxiedCall, id?: string): Claimant {
    const { clock, isRunning = (sender) => this.#isRunning(sender) } = this.#options
    return { now: clock.wallTime(), session: this.sessionOf(call), sender: this.sender, isRunning, id }
  }

  /** True if the process may still get the result of a call. */
  #isRunning({ pid, instance }: Sender): boolean {
    const { replica } = this.#options
    if (replica?.isShared === true) return instance === replica.id || replica.isRunning(instance)
    return pid === this.sender.pid ? instance === this.sender.instance : isProcessRunning(pid)
  }

  #hasRoom(caller: string): boolean {
    const own = [...this.#open.values()].filter((each) => each === caller).length
    return this.#open.size < maxOpen && own < maxOpenPerCaller
  }
}
