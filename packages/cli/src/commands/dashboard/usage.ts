import type { Usage, UsageRow } from '@unfold-mcp/gateway/admin-api'
import { exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { adminRequest, requireGateway } from '../../gateway/running.ts'
import type { Invocation } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { formatNumber, plural } from '../../text/number.ts'
import { safeText } from '../../text/safe.ts'
import { tableLines } from '../../text/table.ts'

const maxRows = 20

/** Shows the calls since the gateway started, and the tools that nobody called. */
export async function run({ flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const gateway = await requireGateway(flags, io, output)
  const usage = (await (await adminRequest(gateway, 'usage', { signal: io.signal })).json()) as Usage
  output.result(usageText(usage), usage)
  return exit.ok
}

function usageText({ since, byServer, byTool, byClient, lists, unused }: Usage): string {
  const tokens = unused.reduce((sum, each) => sum + each.tokens, 0)
  return [
    `Since ${since}:`,
    ...section('Server', byServer),
    ...section('Tool', byTool),
    ...section('Client', byClient),
    ...listSection(lists),
    `${plural(unused.length, 'tool')} not called, ${plural(tokens, 'token')} in a full list (--json shows them).`,
  ].join('\n')
}

/** Tokens of tool lists, as measured when they were sent. */
function listSection(lists: Usage['lists']): readonly string[] {
  if (lists.length === 0) return []
  const shown = lists.toSorted((a, b) => b.sentTokens - a.sentTokens).slice(0, maxRows)
  const cells = shown.map(({ client, host, lists: count, sentTokens, allTokens }) => [
    safeText(host === undefined ? client : `${host} (${client})`),
    ...[count, sentTokens, allTokens].map(formatNumber),
  ])
  return [...tableLines([['Lists sent to', 'Lists', 'Tokens', 'With all tools'], ...cells], { width: 100 }), '']
}

function section(title: string, rows: readonly UsageRow[]): readonly string[] {
  if (rows.length === 0) return []
  const shown = rows.toSorted((a, b) => b.calls - a.calls).slice(0, maxRows)
  const cells = shown.map(({ key, calls, failures, meanMs }) => [
    safeText(key),
    formatNumber(calls),
    formatNumber(failures),
    formatNumber(meanMs),
  ])
  return [...tableLines([[title, 'Calls', 'Failures', 'Mean ms'], ...cells], { width: 100 }), '']
}
