import type { Connection } from '@unfold-mcp/client'
import { documentOf, metaKeys, SearchIndex, signature, type Tool } from '@unfold-mcp/core'
import { exit, usageError } from '../../base/exit.ts'
import { toCommandError } from '../../base/failure.ts'
import type { Io } from '../../base/io.ts'
import { type Invocation, isSet, numberOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { targetWithSecrets } from '../../servers/secrets.ts'
import { connectTo, discoverServers, openServer } from '../../servers/servers.ts'
import { safeText } from '../../text/safe.ts'

interface ServerTool {
  readonly server: string
  readonly tool: Tool
}

/** Best match first. */
interface SearchResult {
  readonly query: string
  readonly confidence: string
  readonly matches: readonly (ServerTool & { readonly score?: number })[]
}

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const limit = numberOf(flags, 'limit') ?? 5
  const isAll = isSet(flags, 'all')
  const search = isAll ? searchAll : searchServer
  const { query, confidence, matches } = await search(invocation, io, output, limit)
  const lines = matches.map(({ server, tool }) => `${isAll ? `${safeText(server)}  ` : ''}${safeText(signature(tool))}`)
  if (matches.length > 0 && confidence !== 'strong') output.note('Low-confidence matches:')
  output.result(matches.length === 0 ? 'No matches.' : lines.join('\n'), {
    query,
    confidence,
    matches: matches.map(({ server, tool, score }) => ({ server, name: tool.name, signature: signature(tool), score })),
  })
  return matches.length === 0 ? exit.tool : exit.ok
}

function searchTools(tools: readonly ServerTool[], query: string, limit: number): SearchResult {
  const index = new SearchIndex()
  for (const [id, { server, tool }] of tools.entries()) index.set(documentOf(tool, { id: String(id), source: server }))
  const { matches, confidence } = index.search(query, { limit })
  return {
    query,
    confidence,
    matches: matches.flatMap(({ id, score }) => {
      const match = tools[Number(id)]
      return match === undefined ? [] : [{ ...match, score }]
    }),
  }
}

async function searchServer(invocation: Invocation, io: Io, output: Output, limit: number): Promise<SearchResult> {
  const { connection, label, positionals } = await openServer(invocation, io, output)
  await using _ = connection
  if (positionals.length === 0) throw usageError('Missing search words. Usage: unfold search <server> <words …>')
  const query = positionals.join(' ')
  const tools = await connection.tools()
  const remote = tools.some(({ name }) => name === 'search_tools') ? await searchRemotely(connection, query, limit) : undefined
  if (remote === undefined)
    return searchTools(
      tools.map((tool) => ({ server: label, tool })),
      query,
      limit,
    )
  return { query, confidence: remote.confidence, matches: remote.tools.map((tool) => ({ server: label, tool })) }
}

/** Uses the server's own search, which covers unlisted tools; undefined if its reply is not from Unfold. */
async function searchRemotely(
  connection: Connection,
  query: string,
  limit: number,
): Promise<{ readonly confidence: string; readonly tools: readonly Tool[] } | undefined> {
  const { _meta } = await connection.call('search_tools', { query, limit }, { validate: false })
  const data = (_meta?.[metaKeys.data] ?? {}) as { readonly names?: unknown; readonly confidence?: unknown }
  if (!Array.isArray(data.names) || typeof data.confidence !== 'string') return undefined
  const names = data.names.filter((name) => typeof name === 'string').slice(0, limit)
  const described = await Promise.all(names.map((name) => connection.describe(name)))
  return { confidence: data.confidence, tools: described.map(({ tool }) => tool) }
}

/** Skips unreachable servers with a warning. */
async function searchAll({ positionals, flags }: Invocation, io: Io, output: Output, limit: number): Promise<SearchResult> {
  if (positionals.length === 0) throw usageError('Missing search words. Usage: unfold search --all <words …>')
  const { servers } = await discoverServers(flags, io)
  // Project servers require approval by name.
  const trusted = servers.filter(({ trust, disabled }) => trust === 'user' && !disabled)
  const all = await Promise.all(
    trusted.map(async (server) => {
      const { name } = server
      try {
        const target = await targetWithSecrets(server, flags, io, output)
        await using connection = await connectTo({ label: name, target }, flags, io, output)
        return (await connection.tools()).map((tool) => ({ server: name, tool }))
      } catch (error) {
        output.warn(`skipped ${name}: ${toCommandError(error).message}`)
        return []
      }
    }),
  )
  return searchTools(all.flat(), positionals.join(' '), limit)
}
