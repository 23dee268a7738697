import { CommandError, exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { requireGateway, requireServer } from '../../gateway/running.ts'
import { type Flags, type Invocation, optionalPositional } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import type { ReviewEntry } from '../../review/entry.ts'
import { canAsk, requirePerson, reviewerToken } from '../../review/reviewer.ts'
import { type Selection, selectionFrom } from '../../review/selection.ts'
import { loadReview, type ReviewList } from '../../review/sources.ts'
import { plural } from '../../text/number.ts'
import { safeText } from '../../text/safe.ts'

/** Shows what servers changed, and takes decisions about it. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const server = optionalPositional(invocation)
  const gateway = await requireGateway(flags, io, output)
  const list = await loadReview({ gateway, token: reviewerToken(io), signal: io.signal }, server)
  // A new server that waits for approval is in the list only.
  if (server !== undefined && list.entries.length === 0) await requireServer(server, gateway, io.signal)
  const selection = selectionFrom(flags, list.entries)
  if (selection !== undefined) return decideByFlags(selection, list, flags, io, output)
  const open = list.entries.filter(({ state }) => state !== 'blocked')
  if (open.length === 0 || output.isJson || !canAsk(flags, io) || io.stdout.isTTY !== true) return show(list, output)
  const { reviewDialog } = await import('../../review/dialog.ts')
  const { approved, blocked } = await reviewDialog(open, { io, screen: output, decide: list.decide })
  output.result(`Approved ${approved}, blocked ${blocked}.`, { approved, blocked })
  return exit.ok
}

function show({ entries, data }: ReviewList, output: Output): number {
  output.result(listText(entries, output), data)
  return exit.ok
}

function listText(entries: readonly ReviewEntry[], output: Output): string {
  const open = entries.filter(({ state }) => state !== 'blocked')
  const blocked = entries.filter(({ state }) => state === 'blocked')
  return [
    ...(open.length === 0 ? ['Nothing to review.'] : open.map((entry) => `${entry.text(output)}\n`)),
    ...(blocked.length === 0 ? [] : [`Blocked: ${blocked.map(({ id }) => safeText(id)).join(', ')}`]),
    ...(open.length === 0 ? [] : [`${summary(open)}. Decide in a terminal, or with --approve, --block and --approve-harmless.`]),
  ].join('\n')
}

function summary(entries: readonly ReviewEntry[]): string {
  const held = entries.filter(({ state }) => state === 'held').length
  return `${plural(held, 'definition')} held, ${entries.length - held} served after a change`
}

async function decideByFlags(
  { approve, block }: Selection,
  { decide }: ReviewList,
  flags: Flags,
  io: Io,
  output: Output,
): Promise<number> {
  const chosen = [...approve, ...block]
  for (const entry of chosen) output.note(entry.text(output))
  if (chosen.length > 0) await requirePerson(questionFor(approve, block), flags, io)
  const approved = approve.length === 0 ? 0 : await decide('approve', approve)
  const blocked = block.length === 0 ? 0 : await decide('block', block)
  output.result(`Approved ${approved}, blocked ${blocked}.`, { approved, blocked })
  const missed = chosen.length - approved - blocked
  if (missed > 0)
    throw new CommandError(
      exit.failed,
      'changed_meanwhile',
      `${plural(missed, 'definition')} changed meanwhile. Run "unfold review" again.`,
    )
  return exit.ok
}

function questionFor(approve: readonly ReviewEntry[], block: readonly ReviewEntry[]): string {
  const hazards = approve.filter(({ isHarmless }) => !isHarmless).length
  const parts = [
    ...(approve.length === 0 ? [] : [`approve ${approve.length}`]),
    ...(block.length === 0 ? [] : [`block ${block.length}`]),
  ]
  const question = `${parts.join(' and ')}?`.replace(/^./u, (letter) => letter.toUpperCase())
  return hazards === 0 ? question : `${question} Rules found something in ${hazards} that you approve.`
}
