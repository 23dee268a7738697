import { locatedText } from '@unfold-mcp/core'
import type { GatewayStatus, ToolReport } from '@unfold-mcp/gateway'
import type { RunRecord } from '@unfold-mcp/gateway/run-file'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { poll } from '../../gateway/poll.ts'
import { adminRequest, requireGateway, unknownServer } from '../../gateway/running.ts'
import { type Invocation, isSet, optionalPositional } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { serverText } from '../../status/server-text.ts'
import { statusText } from '../../status/status-text.ts'
import { safeText } from '../../text/safe.ts'

const intervalMs = 1_000

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const server = optionalPositional(invocation)
  const gateway = await requireGateway(flags, io, output)
  const { signal, stdout } = io
  const fetchStatus = async (): Promise<GatewayStatus> =>
    (await (await adminRequest(gateway, 'status', { signal })).json()) as GatewayStatus
  if (server !== undefined && !isSet(flags, 'watch')) return showServer(server, await fetchStatus(), gateway, io, output)
  if (!isSet(flags, 'watch')) {
    const status = await fetchStatus()
    output.result(statusText(status, output), status)
    return exit.ok
  }
  if (server !== undefined) throw usageError('--watch cannot be combined with a server.')
  const isScreen = stdout.isTTY === true && !output.isJson
  const show = async (): Promise<void> => {
    const status = await fetchStatus()
    // Move to the top and erase the previous output.
    const text = statusText(status, output)
    if (isScreen) stdout.write(`\u001b[H\u001b[2J${text}\n${output.style.dim('Press Ctrl-C to stop.')}\n`)
    else output.item(`${text}\n`, status)
  }
  return poll(show, { signal, output, intervalMs })
}

async function showServer(
  name: string,
  { upstreams, notStarted }: GatewayStatus,
  gateway: RunRecord,
  { signal }: Io,
  output: Output,
): Promise<number> {
  const incomplete = notStarted.find((each) => each.name === name)
  if (incomplete !== undefined) {
    const lines = incomplete.problems.map((problem) => `  ${locatedText(problem)}`)
    output.result(safeText(`${name} not started (${gateway.config}):\n${lines.join('\n')}`, { lines: true }), incomplete)
    return exit.ok
  }
  const upstream = upstreams.find((each) => each.name === name)
  if (upstream === undefined) {
    const names = [...upstreams, ...notStarted].map((each) => each.name)
    throw unknownServer(name, names)
  }
  const response = await adminRequest(gateway, `tools?${new URLSearchParams({ upstream: name }).toString()}`, { signal })
  const tools = (await response.json()) as readonly ToolReport[]
  output.result(serverText(upstream, tools, output), { server: upstream, tools })
  return exit.ok
}
