import type { Approval, ApprovalDecision, ApprovalGrant } from '../approvals/approval.ts'
import { type CallQuestion, decisionsFor } from '../approvals/question.ts'
import { parseBody } from './body.ts'

/** A call that waits for approval, or an approval that was not used up. */
export interface ApprovalReport extends Omit<CallQuestion, 'askedAt'> {
  readonly id: string
  readonly state: 'pending' | 'approved'
  /** How far an approval reaches. */
  readonly grant?: ApprovalGrant
  /** Possible answers to an open question. */
  readonly decisions?: readonly ApprovalDecision[]
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
export interface DecidedApproval {
  readonly id: string
  readonly decision: ApprovalDecision | 'revoke'
}

const decisions: readonly string[] = [...decisionsFor(true), 'revoke']

/** Reads a decision from the body of a request; `undefined` if it is invalid. */
export function parseApproval(body: Uint8Array | undefined): DecidedApproval | undefined {
  const { id, decision } = parseBody(body)
  if (typeof id !== 'string' || typeof decision !== 'string' || !decisions.includes(decision)) return undefined
  return { id, decision: decision as DecidedApproval['decision'] }
}
