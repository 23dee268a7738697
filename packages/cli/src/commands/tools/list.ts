import { signature, type Tool, toolTokens } from '@unfold-mcp/core'
import { exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { problemText } from '../../config/index.ts'
import { type Invocation, isSet } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { discoverServers, openServer } from '../../servers/servers.ts'
import { sessionNote } from '../../servers/session-view.ts'
import { formatNumber, plural } from '../../text/number.ts'
import { safeText } from '../../text/safe.ts'
import { tableLines } from '../../text/table.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { positionals, flags, command } = invocation
  const output = new Output(io, flags)
  if (positionals.length === 0 && command === undefined && flags.server === undefined && io.env.UNFOLD_SERVER === undefined)
    return listServers(invocation, io, output)
  const server = await openServer(invocation, io, output)
  const { connection, label } = server
  await using _ = connection
  const tools = await connection.tools()
  if (isSet(flags, 'names'))
    output.result(tools.map(({ name }) => safeText(name)).join('\n'), { server: label, tools: tools.map(({ name }) => name) })
  else output.result(toolsText(tools, isSet(flags, 'schemas')), { server: label, tools })
  if (!isSet(flags, 'names') && !isSet(flags, 'quiet') && !output.isJson) {
    const tokens = tools.reduce((sum, tool) => sum + toolTokens(tool), 0)
    output.note(`\n${plural(tools.length, 'tool')}, ~${formatNumber(tokens)} tokens`)
    const note = await sessionNote(server, tools, invocation, io)
    if (note !== undefined) output.note(note)
  }
  return exit.ok
}

function toolsText(tools: readonly Tool[], withSchemas: boolean): string {
  if (tools.length === 0) return 'No tools.'
  if (!withSchemas) return tools.map((tool) => safeText(signature(tool))).join('\n')
  return tools
    .map(({ name, description, inputSchema }) =>
      [
        safeText(name),
        ...(description === undefined ? [] : [`  ${safeText(description)}`]),
        ...JSON.stringify(inputSchema, undefined, 2)
          .split('\n')
          .map((line) => `  ${safeText(line)}`),
      ].join('\n'),
    )
    .join('\n\n')
}

async function listServers({ flags }: Invocation, io: Io, output: Output): Promise<number> {
  const { servers, problems } = await discoverServers(flags, io)
  for (const problem of problems) output.warn(problemText(problem))
  const data = servers.map(({ name, shown, source, trust, disabled }) => ({
    name,
    target: shown,
    source,
    trust,
    disabled,
  }))
  const rows = servers.map(({ name, shown, source, trust, disabled }) => [
    safeText(name),
    `${source.client}${trust === 'project' ? ', project' : ''}${disabled ? ', disabled' : ''}`,
    safeText('url' in shown ? shown.url : [shown.command, ...(shown.args ?? [])].join(' ')),
  ])
  output.result(
    servers.length === 0
      ? 'No servers found in the configuration of your MCP clients or in this folder.\nTry: unfold list -- npx -y @modelcontextprotocol/server-everything'
      : tableLines(rows, { width: output.width, last: 'cut' }).join('\n'),
    { servers: data, problems },
  )
  return exit.ok
}
