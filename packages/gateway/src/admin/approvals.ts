import type { Approval, Decision } from '../approvals/approval.ts'
import { decisionsFor, type Question } from '../approvals/question.ts'
import { parseBody } from './body.ts'

/** A call that waits for approval, or an approval that was not used up. */
export interface ApprovalReport extends Omit<Question, 'askedAt'> {
  readonly id: string
  readonly state: 'pending' | 'approved'
  /** How far an approval reaches. */
  readonly grant?: Approval['grant']
  /** Possible answers to an open question. */
  readonly decisions?: readonly Decision[]
  readonly askedAt: string
  /** Absent for an approval that does not expire. */
  readonly expiresAt?: string
}

export function approvalReport({ id, state, grant, session, expiresAt, question }: Approval): ApprovalReport {
  const isPending = state === 'pending'
  return {
    id,
    state: isPending ? 'pending' : 'approved',
    ...(isPending ? { decisions: decisionsFor(session !== undefined) } : { grant }),
    ...(expiresAt < Number.MAX_SAFE_INTEGER && { expiresAt: new Date(expiresAt).toISOString() }),
    ...question,
    askedAt: new Date(question.askedAt).toISOString(),
  }
}

/** A decision about a call. */
export interface ApprovalDecision {
  readonly id: string
  readonly decision: Decision | 'revoke'
}

const decisions: readonly string[] = [...decisionsFor(true), 'revoke']

/** Reads a decision from the body of a request; `undefined` if it is invalid. */
export function parseApproval(body: Uint8Array | undefined): ApprovalDecision | undefined {
  const { id, decision } = parseBody(body)
  if (typeof id !== 'string' || typeof decision !== 'string' || !decisions.includes(decision)) return undefined
  return { id, decision: decision as ApprovalDecision['decision'] }
}
