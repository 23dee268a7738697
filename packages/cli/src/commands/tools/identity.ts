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
  if (basis !== 'definitions' && basis !== 'names') throw usageError(`--basis must be definitions or names, not "${basis}".`)
  const { connection, label } = await openServer(invocation, io, output)
  await using _ = connection
  const reported = await connection.identity()
  const tools = await connection.tools()
  const computed = identityOfTools(tools, basis)
  const id = basis === 'names' ? computed : (reported?.server_id ?? computed)
  const expected = textOf(flags, 'expect')
  const result = {
    server: label,
    server_id: id,
    tools_count: reported?.tools_count ?? tools.length,
    protocol_version: reported?.protocol_version ?? '1.0',
    by: reported === undefined || basis === 'names' ? 'client' : 'server',
    name: connection.server.name,
    version: connection.server.version,
    mcp_version: connection.protocolVersion,
    ...(reported !== undefined && { reported }),
  }
  // A reported identity proves nothing, so the computed one must match too.
  const mismatch = [id, computed].find((each) => each?.toLowerCase() !== expected?.toLowerCase())
  if (expected !== undefined && mismatch !== undefined)
    throw new CommandError(
      exit.blocked,
      'identity_mismatch',
      `Identity mismatch: ${label} is ${mismatch}, expected ${expected}. Its tools differ.`,
      {
        details: { expected, actual: mismatch },
      },
    )
  const by = result.by === 'server' ? '' : ' (computed by the client)'
  output.result(
    `${id}${by}\n${plural(result.tools_count, 'tool')} · ${result.name} ${result.version} · MCP ${result.mcp_version}`,
    result,
  )
  return exit.ok
}
