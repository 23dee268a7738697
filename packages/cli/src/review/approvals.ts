import type { ApprovalReport } from '@unfold-mcp/gateway'
import { CommandError, exit } from '../base/exit.ts'
import { adminRequest } from '../gateway/running.ts'
import { formatTime } from '../status/format.ts'
import { safeText } from '../text/safe.ts'
import { type Access, requestOf, type Screen } from './entry.ts'

/** An answer to a question, or the end of an approval. */
export type ApprovalDecision = 'once' | 'session' | 'always' | 'deny' | 'revoke'

/** Calls that wait for an answer, and approvals that are in force. */
export async function loadApprovals(access: Access): Promise<readonly ApprovalReport[]> {
  const response = await adminRequest(access.gateway, 'approvals', requestOf(access))
  return (await response.json()) as readonly ApprovalReport[]
}

/** Returns false if there was nothing left to decide. */
export async function decideApproval(access: Access, id: string, decision: ApprovalDecision): Promise<boolean> {
  try {
    await adminRequest(access.gateway, 'approvals', { ...requestOf(access), method: 'POST', body: { id, decision } })
    return true
  } catch (error) {
    if (error instanceof CommandError && error.code === exit.failed && error.message.includes('(409)')) return false
    throw error
  }
}

/** The call as a person reads it. */
export function approvalText(report: ApprovalReport, { style }: Screen): string {
  const { id, state, grant, server, tool, caller, arguments: given, rule, reason, expiresAt } = report
  const until = expiresAt === undefined ? '' : `, until ${formatTime(expiresAt)}`
  const status = state === 'pending' ? `${style.yellow('waits for an answer')}${until}` : `approved (${grant ?? ''})${until}`
  return [
    `${style.bold(safeText(id))}  ${style.bold(safeText(`${server}/${tool}`))}  ${status}`,
    ...given.map(({ name, value, length }) => {
      const size = value.endsWith('…') ? style.dim(` (${length} characters)`) : ''
      return `  ${safeText(name)}: ${safeText(value, { limit: 2_100 })}${size}`
    }),
    style.dim(`  asked by ${safeText(rule ?? 'the default of the policy')} for ${safeText(caller)}`),
    ...(reason === undefined ? [] : [`  ${safeText(reason, { limit: 500 })}`]),
  ].join('\n')
}
