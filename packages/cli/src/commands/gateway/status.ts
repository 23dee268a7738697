import { nearest, nearestHint } from '@unfold-mcp/core'
import type { GatewayStatus, ToolReport } from '@unfold-mcp/gateway'
import type { RunRecord } from '@unfold-mcp/gateway/run-file'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { poll } from '../../gateway/poll.ts'
import { adminRequest, requireGateway } from '../../gateway/running.ts'
import { type Invocation, isSet } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { serverText } from '../../status/server-text.ts'
import { statusText } from '../../status/status-text.ts'
import { safeText } from '../../text/safe.ts'

const intervalMs = 1_000

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [server, ...others] = positionals
  if (others.length > 0) throw usageError('One server at a time: unfold status [<server>]')
  const gateway = await requireGateway(flags, io, output)
  const { signal, stdout } = io
  const ask = async (): Promise<GatewayStatus> =>
    (await (await adminRequest(gateway, 'status', { signal })).json()) as GatewayStatus
  if (server !== undefined && !isSet(flags, 'watch')) return tellServer(server, await ask(), gateway, io, output)
  if (!isSet(flags, 'watch')) {
    const status = await ask()
    output.answer(statusText(status, output), status)
    return exit.ok
  }
  if (server !== undefined) throw usageError('--watch shows all servers: unfold status --watch')
  const isScreen = stdout.isTTY === true && !output.isJson
  const show = async (): Promise<void> => {
    const status = await ask()
    // Move to the top and erase the previous output.
    const text = statusText(status, output)
    if (isScreen) stdout.write(`\u001b[H\u001b[2J${text}\n${output.style.dim('Stop with Ctrl-C.')}\n`)
    else output.item(`${text}\n`, status)
  }
  return poll(show, { signal, output, intervalMs })
}

async function tellServer(
  name: string,
  { upstreams, held }: GatewayStatus,
  gateway: RunRecord,
  { signal }: Io,
  output: Output,
): Promise<number> {
  const waiting = held.find((each) => each.name === name)
  if (waiting !== undefined) {
    const lines = waiting.problems.map(({ line, column, path, message }) => `  ${line}:${column} ${path} ${message}`)
    output.answer(safeText(`${name} is not started, in ${gateway.config}:\n${lines.join('\n')}`, { lines: true }), waiting)
    return exit.ok
  }
  const upstream = upstreams.find((each) => each.name === name)
  if (upstream === undefined) {
    const names = [...upstreams, ...held].map((each) => each.name)
    throw usageError(`There is no server "${name}" behind the gateway.${nearestHint(nearest(name, names))}`, { known: names })
  }
  const answered = await adminRequest(gateway, `tools?${new URLSearchParams({ upstream: name }).toString()}`, { signal })
  const tools = (await answered.json()) as readonly ToolReport[]
  output.answer(serverText(upstream, tools, output), { server: upstream, tools })
  return exit.ok
}
