import type { CallQuestion } from './question.ts'

/** How far an approval reaches: one call, the same call in the same session, or the same call at any time. */
export type ApprovalGrant = 'once' | 'session' | 'always'

/** Answer of a person. */
export type ApprovalDecision = ApprovalGrant | 'deny'

/**
 * `sent`: used by a call whose result is not known yet. `suspended`: the server asked for input before it completes the call. `done`:
 * the result was returned.
 */
type ApprovalState = 'pending' | 'approved' | 'denied' | 'sent' | 'suspended' | 'done'

/** A process that sends calls. */
export interface Sender {
  readonly pid: number
  /** Random, because another process may get the same pid later. */
  readonly instance: string
}

/** A question about one call, and what became of it. */
export interface Approval {
  readonly id: string
  /** Digest of everything that the approval is bound to. */
  readonly call: string
  readonly state: ApprovalState
  readonly grant: ApprovalGrant
  /** Hash of the session that asked; absent for 2026-07-28 clients, which have none. */
  readonly session?: string | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly sender?: Sender | undefined
  /** Identifies the next request of a suspended call. */
  readonly continuation?: string | undefined
  readonly question: CallQuestion
}

/** What a call may do now. */
export type Claim =
  /** It may be sent. `sent`: with an approval that is used up by that. */
  | { readonly kind: 'standing' | 'sent'; readonly approval: Approval }
  | { readonly kind: 'pending' | 'denied'; readonly approval: Approval }
  /** An earlier, identical call was sent by a process that has ended. */
  | { readonly kind: 'unknown'; readonly approval: Approval }
  /** The approval that the call refers to was used by another request. */
  | { readonly kind: 'used'; readonly approval: Approval }
  | { readonly kind: 'none' }

export interface Claimant {
  readonly now: number
  readonly session: string | undefined
  readonly sender: Sender
  readonly isRunning: (sender: Sender) => boolean
  /** The approval that a repeated request refers to. */
  readonly id?: string | undefined
}

/** New approvals of a call, and a result. */
export type Change<T> = readonly [approvals: readonly Approval[], result: T]

const minuteMs = 60_000

/** How long each state lasts after it was entered. */
const lifetimes = {
  /** For a call that is made again after the answer. */
  approved: 10 * minuteMs,
  session: 24 * 60 * minuteMs,
  /** Long enough that a model that repeats the call at once does not ask again. */
  denied: minuteMs,
  suspended: 10 * minuteMs,
  sent: 7 * 24 * 60 * minuteMs,
  /** Long enough to recognise a repeated request. */
  done: 10 * minuteMs,
}

const never = Number.MAX_SAFE_INTEGER

/** Decides what a call may do, and marks the approval that it uses as sent. All approvals belong to this call. */
export function claim(approvals: readonly Approval[], claimant: Claimant): Change<Claim> {
  const { now, session, sender, isRunning, id } = claimant
  const valid = approvals.filter(({ expiresAt }) => expiresAt > now)
  const referred = valid.find((each) => each.id === id)
  if (referred !== undefined && (referred.state === 'sent' || referred.state === 'suspended' || referred.state === 'done'))
    return [approvals, { kind: 'used', approval: referred }]
  const lost = valid.find((each) => each.state === 'sent' && each.sender !== undefined && !isRunning(each.sender))
  // Reported once: the next call asks again.
  if (lost !== undefined) return [replace(approvals, finished(lost, now)), { kind: 'unknown', approval: lost }]
  const approved = valid.filter(({ state }) => state === 'approved')
  const standing = approved.find(({ grant, session: own }) => grant === 'always' || (grant === 'session' && own === session))
  if (standing !== undefined) return [approvals, { kind: 'standing', approval: standing }]
  const single = approved.find(({ grant }) => grant === 'once')
  if (single !== undefined) {
    const sent: Approval = { ...single, state: 'sent', sender, expiresAt: now + lifetimes.sent }
    return [replace(approvals, sent), { kind: 'sent', approval: sent }]
  }
  for (const kind of ['denied', 'pending'] as const) {
    const found = valid.find(({ state }) => state === kind)
    if (found !== undefined) return [approvals, { kind, approval: found }]
  }
  return [approvals, { kind: 'none' }]
}

export interface Answer {
  readonly decision: ApprovalDecision
  readonly now: number
  /** Session of the user who answers; default: the one that asked. */
  readonly session?: string | undefined
}

/** Answers an open question. The result is `undefined` if it is not open, or if it has no session to approve. */
export function answer(approvals: readonly Approval[], id: string, given: Answer): Change<Approval | undefined> {
  const { decision, now } = given
  const found = approvals.find((each) => each.id === id && each.state === 'pending' && each.expiresAt > now)
  const session = given.session ?? found?.session
  if (found === undefined || (decision === 'session' && session === undefined)) return [approvals, undefined]
  const open = { ...found, session }
  const answered: Approval =
    decision === 'deny'
      ? { ...open, state: 'denied', expiresAt: now + lifetimes.denied }
      : { ...open, state: 'approved', grant: decision, expiresAt: expiryOf(decision, now) }
  return [replace(approvals, answered), answered]
}

/** Marks a sent call as completed. */
export function finish(approvals: readonly Approval[], id: string, now: number): readonly Approval[] {
  const sent = approvals.find((each) => each.id === id && each.state === 'sent')
  return sent === undefined ? approvals : replace(approvals, finished(sent, now))
}

/** Notes that the server of a sent call needs input, which a request with `continuation` will bring. */
export function suspend(
  approvals: readonly Approval[],
  id: string,
  { continuation, now }: { readonly continuation: string; readonly now: number },
): readonly Approval[] {
  const sent = approvals.find((each) => each.id === id && each.state === 'sent')
  if (sent === undefined) return approvals
  return replace(approvals, { ...sent, state: 'suspended', continuation, expiresAt: now + lifetimes.suspended })
}

/** Lets a suspended call continue, once for each `continuation`. */
export function resume(
  approvals: readonly Approval[],
  id: string,
  { continuation, now, sender }: { readonly continuation: string; readonly now: number; readonly sender: Sender },
): Change<Approval | undefined> {
  const found = approvals.find((each) => each.id === id && each.state === 'suspended' && each.continuation === continuation)
  if (found === undefined || found.expiresAt <= now) return [approvals, undefined]
  const sent: Approval = { ...found, state: 'sent', continuation: undefined, sender, expiresAt: now + lifetimes.sent }
  return [replace(approvals, sent), sent]
}

/** Removes an open question. The result is what was removed. */
export const withdraw = (approvals: readonly Approval[], id: string): Change<Approval | undefined> =>
  removed(approvals, id, 'pending')

/** Removes an approval that was not used. The result is what was removed. */
export const revoke = (approvals: readonly Approval[], id: string): Change<Approval | undefined> =>
  removed(approvals, id, 'approved')

function removed(approvals: readonly Approval[], id: string, state: ApprovalState): Change<Approval | undefined> {
  const found = approvals.find((each) => each.id === id && each.state === state)
  return found === undefined ? [approvals, undefined] : [approvals.filter((each) => each !== found), found]
}

function expiryOf(grant: ApprovalGrant, now: number): number {
  if (grant === 'always') return never
  return now + (grant === 'session' ? lifetimes.session : lifetimes.approved)
}

const finished = (approval: Approval, now: number): Approval => ({
  ...approval,
  state: 'done',
  expiresAt: now + lifetimes.done,
})

const replace = (approvals: readonly Approval[], next: Approval): readonly Approval[] =>
  approvals.map((each) => (each.id === next.id ? next : each))
