import { printable } from '@unfold-mcp/core'
import type { Log } from '../base/log.ts'

/** What happened to the question about a call. */
interface ApprovalEvent {
  readonly outcome: string
  readonly by?: string | undefined
  readonly approval: {
    readonly id: string
    readonly grant: string
    readonly question: {
      readonly caller: string
      readonly server: string
      readonly tool: string
      readonly rule?: string | undefined
      readonly definitionDigest: string
      readonly argumentsDigest: string
      readonly policyDigest: string
    }
  }
}

/** Logs who has to answer, or who did. */
export function logApproval(log: Log, { outcome, by, approval: { id, grant, question } }: ApprovalEvent): void {
  const { caller, server, tool } = question
  const call = `${printable(tool)} (${printable(caller)})`
  const fields = { upstream: server, event: 'approval', outcome, id }
  if (outcome === 'asked') log.warn(fields, `approval required: ${call}. Answer: unfold approvals`)
  else if (outcome === 'approved') log.info(fields, `approved (${grant}) by ${printable(by ?? '?')}: ${call}`)
  else log.warn(fields, `approval ${outcome}${by === undefined ? '' : ` by ${printable(by)}`}: ${call}`)
}

/** The event as an audit record. */
export function approvalRecord({ outcome, by, approval: { id, grant, question } }: ApprovalEvent) {
  const { caller, server, tool, rule, definitionDigest, argumentsDigest, policyDigest } = question
  return {
    type: 'approval' as const,
    outcome,
    ...(by !== undefined && { client: by }),
    caller,
    upstream: server,
    tool,
    approval: id,
    ...(outcome === 'approved' && { grant }),
    ...(rule !== undefined && { rule }),
    ...{ definitionDigest, argumentsDigest, policyDigest },
  }
}
