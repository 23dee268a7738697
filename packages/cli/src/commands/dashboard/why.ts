import type { Visibility } from '@unfold-mcp/gateway/admin-api'
import { exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { adminRequest, requireGateway } from '../../gateway/running.ts'
import { type Invocation, onePositional, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { safeText } from '../../text/safe.ts'

/** Explains why a client does or does not see a tool. Fails if the client cannot use it. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const tool = onePositional(invocation)
  const gateway = await requireGateway(flags, io, output)
  const query = new URLSearchParams({ tool })
  const named = { token: 'client', profile: 'profile', server: 'server', era: 'era', query: 'view' }
  for (const [name, flag] of Object.entries(named)) {
    const value = textOf(flags, flag)
    if (value !== undefined) query.set(name, value)
  }
  const found = (await (await adminRequest(gateway, `why?${query.toString()}`, { signal: io.signal })).json()) as Visibility
  output.result(visibilityText(found), found)
  return found.isUsable ? exit.ok : exit.failed
}

function visibilityText({ tool, isListed, isUsable, cause, reason, next, checks }: Visibility): string {
  const state = isListed ? 'listed' : isUsable ? 'not listed, but usable' : 'not visible'
  return [
    `${safeText(tool)}: ${state} (${cause}). ${safeText(reason)}`,
    ...checks.map(({ check, isPassed, detail }) => `  ${isPassed ? 'pass' : 'stop'}  ${check.padEnd(12)}  ${safeText(detail)}`),
    ...(next === undefined ? [] : [`Next: ${safeText(next)}`]),
  ].join('\n')
}
