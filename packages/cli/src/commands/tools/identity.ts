import { identityOfTools } from '@unfold-mcp/client'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { type Invocation, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { openServer } from '../../servers/servers.ts'
import { plural } from '../../text/number.ts'

/** The identity that the server reports, or one computed from its tools. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const basis = textOf(flags, 'basis') ?? 'definitions'
  if (basis !== 'definitions' && basis !== 'names') throw usageError(`--basis is definitions or names, not "${basis}".`)
  const { connection, label } = await openServer(invocation, io, output)
  await using _ = connection
  const told = await connection.identity()
  const tools = await connection.tools()
  const computed = identityOfTools(tools, basis)
  const id = basis === 'names' ? computed : (told?.server_id ?? computed)
  const expected = textOf(flags, 'expect')
  const answer = {
    server: label,
    server_id: id,
    tools_count: told?.tools_count ?? tools.length,
    protocol_version: told?.protocol_version ?? '1.0',
    by: told === undefined || basis === 'names' ? 'client' : 'server',
    name: connection.server.name,
    version: connection.server.version,
    mcp_version: connection.protocolVersion,
    ...(told !== undefined && { told }),
  }
  // A reported identity proves nothing, so the computed one must match too.
  const found = [id, computed].find((each) => each?.toLowerCase() !== expected?.toLowerCase())
  if (expected !== undefined && found !== undefined)
    throw new CommandError(
      exit.blocked,
      'identity_mismatch',
      `${label} has the identity ${found}, not ${expected}: its tools are others.`,
      {
        details: { expected, actual: found },
      },
    )
  const by = answer.by === 'server' ? '' : ' (computed here: the server does not tell)'
  output.answer(
    `${id}${by}\n${plural(answer.tools_count, 'tool')} · ${answer.name} ${answer.version} · MCP ${answer.mcp_version}`,
    answer,
  )
  return exit.ok
}
