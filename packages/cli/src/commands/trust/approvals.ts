import { nearest, nearestHint } from '@unfold-mcp/core'
import type { ApprovalReport } from '@unfold-mcp/gateway'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { poll } from '../../gateway/poll.ts'
import { requireGateway } from '../../gateway/running.ts'
import { type Flags, type Invocation, isSet, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { type ApprovalDecision, approvalText, decideApproval, loadApprovals } from '../../review/approvals.ts'
import type { Access } from '../../review/entry.ts'
import { canAsk, requirePerson, reviewerToken } from '../../review/reviewer.ts'
import { safeText } from '../../text/safe.ts'

const subcommands = ['list', 'approve', 'deny', 'revoke']
const usage = 'unfold approvals [list], unfold approvals approve|deny|revoke <id> …'
const pollMs = 1_000

/** Shows calls that wait for a person, and takes answers. */
export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [name = 'list', ...ids] = positionals
  if (!subcommands.includes(name))
    throw usageError(
      `"${name}" is not a subcommand of "unfold approvals".${nearestHint(nearest(name, subcommands))} Usage: ${usage}`,
    )
  if (name !== 'list' && ids.length === 0) throw usageError(`Missing id. Usage: ${usage}`)
  if (name === 'list' && ids.length > 0) throw usageError(`Usage: ${usage}`)
  const reach = textOf(flags, 'for')
  if (reach !== undefined && name !== 'approve') throw usageError('--for requires "unfold approvals approve <id>".')
  const output = new Output(io, flags)
  const gateway = await requireGateway(flags, io, output)
  const access: Access = { gateway, token: reviewerToken(io), signal: io.signal }
  if (name !== 'list') return decide(ids, decisionFor(name, reach), { access, flags, io, output })
  const isDialog = !output.isJson && canAsk(flags, io) && io.stdout.isTTY === true
  if (isSet(flags, 'watch')) return watch(access, isDialog, io, output)
  const reports = await loadApprovals(access)
  const pending = reports.filter(({ state }) => state === 'pending')
  if (!isDialog || pending.length === 0) return show(reports, output)
  for (const report of pending) await ask(report, access, io, output)
  return exit.ok
}

function decisionFor(subcommand: string, reach = 'once'): ApprovalDecision {
  if (subcommand === 'deny' || subcommand === 'revoke') return subcommand
  if (reach === 'once' || reach === 'session' || reach === 'always') return reach
  throw usageError(`--for must be once, session or always, not "${safeText(reach)}".`)
}

function show(reports: readonly ApprovalReport[], output: Output): number {
  const text =
    reports.length === 0 ? 'No calls wait for approval.' : reports.map((each) => approvalText(each, output)).join('\n\n')
  output.result(text, { approvals: reports })
  if (!output.isJson && reports.some(({ state }) => state === 'pending'))
    output.note('Answer in a terminal, or with: unfold approvals approve|deny <id>')
  return exit.ok
}

async function ask(report: ApprovalReport, access: Access, io: Io, screen: Output): Promise<void> {
  const { askAboutCall } = await import('../../review/approval-dialog.ts')
  await askAboutCall(report, { io, screen, decide: (id, decision) => decideApproval(access, id, decision) })
}

/** Shows each call once, as soon as it waits. */
async function watch(access: Access, isDialog: boolean, io: Io, output: Output): Promise<number> {
  const shown = new Set<string>()
  output.note('Waiting for calls that need approval …')
  const next = async (): Promise<void> => {
    for (const report of await loadApprovals(access)) {
      if (report.state !== 'pending' || shown.has(report.id)) continue
      shown.add(report.id)
      if (isDialog) await ask(report, access, io, output)
      else output.item(approvalText(report, output), report)
    }
  }
  return poll(next, { signal: io.signal, output, intervalMs: pollMs })
}

interface Context {
  readonly access: Access
  readonly flags: Flags
  readonly io: Io
  readonly output: Output
}

async function decide(
  ids: readonly string[],
  decision: ApprovalDecision,
  { access, flags, io, output }: Context,
): Promise<number> {
  const reports = await loadApprovals(access)
  const chosen = ids.map((id) => {
    const found = reports.find((each) => each.id === id)
    if (found !== undefined) return found
    throw new CommandError(
      exit.failed,
      'unknown_approval',
      `No call with the id "${safeText(id)}" waits. Run "unfold approvals".`,
    )
  })
  for (const report of chosen) output.note(approvalText(report, output))
  // A refusal needs no person: it permits nothing.
  if (decision !== 'deny' && decision !== 'revoke')
    await requirePerson(`Allow ${chosen.length === 1 ? 'this call' : `these ${chosen.length} calls`} (${decision})?`, flags, io)
  const decided: string[] = []
  for (const { id } of chosen) if (await decideApproval(access, id, decision)) decided.push(id)
  output.result(decided.map((id) => `${id} ${decision}`).join('\n'), { decision, decided })
  if (decided.length === chosen.length) return exit.ok
  throw new CommandError(
    exit.failed,
    'too_late',
    `${chosen.length - decided.length} of the calls no longer waited, or have no session to approve. Run "unfold approvals".`,
  )
}
