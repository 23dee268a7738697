import type { Connection } from '@unfold-mcp/client'
import { documentOf, metaKeys, SearchIndex, signature, type Tool } from '@unfold-mcp/core'
import type { ClientView } from '@unfold-mcp/gateway/admin-api'
import type { RunRecord } from '@unfold-mcp/gateway/run-file'
import { exit, usageError } from '../../base/exit.ts'
import { toCommandError } from '../../base/failure.ts'
import type { Io } from '../../base/io.ts'
import { resolveServer } from '../../config/index.ts'
import { adminRequest, findGateways } from '../../gateway/running.ts'
import { type Invocation, isSet, numberOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { targetWithSecrets } from '../../servers/secrets.ts'
import { connectTo, discoverServers, isAddress, openServer } from '../../servers/servers.ts'
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
  const gateway = isAll ? undefined : await gatewayFor(invocation, io, output)
  const search = isAll
    ? searchAll(invocation, io, output, limit)
    : gateway === undefined
      ? searchServer(invocation, io, output, limit)
      : searchGateway(gateway, invocation.positionals, io, limit)
  const { query, confidence, matches } = await search
  const lines = matches.map(({ server, tool }) => `${isAll ? `${safeText(server)}  ` : ''}${safeText(signature(tool))}`)
  if (matches.length > 0 && confidence !== 'strong') output.note('Low-confidence matches:')
  output.result(matches.length === 0 ? 'No matches.' : lines.join('\n'), {
    query,
    confidence,
    matches: matches.map(({ server, tool, score }) => ({ server, name: tool.name, signature: signature(tool), score })),
  })
  return matches.length === 0 ? exit.tool : exit.ok
}

/** The running gateway, if the first word is a search word instead of a server. */
async function gatewayFor(invocation: Invocation, io: Io, output: Output): Promise<RunRecord | undefined> {
  const { command, flags, positionals } = invocation
  const [first] = positionals
  const isNamed = command !== undefined || flags.server !== undefined || io.env.UNFOLD_SERVER !== undefined
  if (isNamed || first === undefined || isAddress(first)) return undefined
  const { servers, problems } = await discoverServers(flags, io)
  const { kind } = resolveServer(first, { servers, problems, incomplete: [] })
  // Words in quotes are not the name of a server.
  if (kind !== 'unknown') return undefined
  const running = (await findGateways({}, io)).filter(({ transport }) => transport === 'http')
  const [gateway] = running
  if (gateway === undefined)
    throw usageError(
      `No server is named "${safeText(first)}", and no gateway is running. Use one of:\n  unfold search <server> <words …>\n  unfold search --all <words …>    all configured servers\n  unfold serve                     then search without a server name`,
    )
  if (running.length > 1)
    throw usageError(
      `No server is named "${safeText(first)}". Several gateways are running; choose one: ${running.map(({ url }) => `unfold search ${url} <words …>`).join(', ')}`,
    )
  output.note(`Searching the gateway at ${gateway.url}`)
  return gateway
}

/** Searches with the rights of the operator, so no client token is needed. */
async function searchGateway(
  gateway: RunRecord,
  positionals: readonly string[],
  { signal }: Io,
  limit: number,
): Promise<SearchResult> {
  const query = positionals.join(' ')
  const view = await adminRequest(gateway, `view?${new URLSearchParams({ search: query }).toString()}`, { signal })
  const { search, listed } = (await view.json()) as ClientView
  // Tools that the gateway adds are listed only here.
  const known = new Map((listed.map(({ definition }) => definition) as readonly Tool[]).map((tool) => [tool.name, tool]))
  const found = (search?.matches ?? []).slice(0, limit)
  const tools = await Promise.all(
    found.map(async ({ name, score }) => {
      const tool = known.get(name) ?? (await definitionOf(name, gateway, signal))
      return { server: gateway.url, tool, score }
    }),
  )
  return { query, confidence: search?.confidence ?? 'none', matches: tools }
}

async function definitionOf(name: string, gateway: RunRecord, signal: AbortSignal): Promise<Tool> {
  const reply = await adminRequest(gateway, `tools/${encodeURIComponent(name)}`, { signal })
  return ((await reply.json()) as { readonly definition: Tool }).definition
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
