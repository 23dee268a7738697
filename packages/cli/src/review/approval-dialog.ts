import { log, selectKey } from '@clack/prompts'
import type { ApprovalReport } from '@unfold-mcp/gateway'
import type { Io } from '../base/io.ts'
import { promptTerminal, requireAnswer } from '../interactive/terminal.ts'
import { safeText } from '../text/safe.ts'
import { type ApprovalDecision, approvalText } from './approvals.ts'
import type { Screen } from './entry.ts'

export interface ApprovalDialog {
  readonly io: Io
  readonly screen: Screen
  /** Returns false if there was nothing left to decide. */
  readonly decide: (id: string, decision: ApprovalDecision) => Promise<boolean>
}

const options = [
  // First: Enter selects it.
  { value: 'n', label: 'not now', decision: undefined },
  { value: 'o', label: 'allow once', decision: 'once' },
  { value: 's', label: 'allow this call for this session', decision: 'session' },
  { value: 'a', label: 'always allow this call', decision: 'always' },
  { value: 'd', label: 'deny', decision: 'deny' },
] as const

/** Shows a call that waits, and reads one key. */
export async function askAboutCall(report: ApprovalReport, { io, screen, decide }: ApprovalDialog): Promise<void> {
  io.stderr.write(`\n${approvalText(report, screen)}\n`)
  const offered = options.filter(({ decision }) => decision === undefined || report.decisions?.includes(decision) === true)
  const message = `Allow ${safeText(`${report.server}/${report.tool}`)}?`
  const key = requireAnswer(
    await selectKey({
      message,
      options: offered.map(({ value, label }) => ({ value, label })),
      caseSensitive: true,
      ...promptTerminal(io),
    }),
  )
  const { decision } = options.find(({ value }) => value === key) ?? {}
  if (decision === undefined || (await decide(report.id, decision))) return
  log.warn('The call no longer waits: it was answered or withdrawn, or the time is up.', promptTerminal(io))
}
