import type { Connection } from '@unfold-mcp/client'
import { documentOf, metaKeys, SearchIndex, signature, type Tool } from '@unfold-mcp/core'
import { exit, usageError } from '../../base/exit.ts'
import { toCommandError } from '../../base/failure.ts'
import type { Io } from '../../base/io.ts'
import { type Invocation, isSet, numberOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { connectTo, discoverServers, openServer } from '../../servers/servers.ts'
import { safeText } from '../../text/safe.ts'

interface Among {
  readonly server: string
  readonly tool: Tool
}

/** Best match first. */
interface Found {
  readonly query: string
  readonly confidence: string
  readonly matches: readonly (Among & { readonly score?: number })[]
}

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const limit = numberOf(flags, 'limit') ?? 5
  const isEverywhere = isSet(flags, 'all')
  const found = isEverywhere ? await everywhere(invocation, io, output, limit) : await inOne(invocation, io, output, limit)
  const { query, confidence, matches } = found
  const lines = matches.map(({ server, tool }) => `${isEverywhere ? `${safeText(server)}  ` : ''}${safeText(signature(tool))}`)
  output.answer(matches.length === 0 ? 'Nothing like that was found.' : lines.join('\n'), {
    query,
    confidence,
    matches: matches.map(({ server, tool, score }) => ({ server, name: tool.name, signature: signature(tool), score })),
  })
  if (matches.length > 0 && confidence !== 'strong') output.note('None of them may be what you want.')
  return matches.length === 0 ? exit.tool : exit.ok
}

function foundAmong(among: readonly Among[], query: string, limit: number): Found {
  const index = new SearchIndex()
  for (const [id, { server, tool }] of among.entries()) index.set(documentOf(tool, { id: String(id), source: server }))
  const { matches, confidence } = index.search(query, { limit })
  const found = matches.flatMap(({ id, score }) => {
    const each = among[Number(id)]
    return each === undefined ? [] : [{ ...each, score }]
  })
  return { query, confidence, matches: found }
}

async function inOne(invocation: Invocation, io: Io, output: Output, limit: number): Promise<Found> {
  const { connection, label, positionals } = await openServer(invocation, io, output)
  await using _ = connection
  if (positionals.length === 0) throw usageError('What should the tool do? unfold search <server> <words …>')
  const query = positionals.join(' ')
  const tools = await connection.tools()
  const others = tools.some(({ name }) => name === 'search_tools') ? await foundThere(connection, query, limit) : undefined
  if (others === undefined)
    return foundAmong(
      tools.map((tool) => ({ server: label, tool })),
      query,
      limit,
    )
  return { query, confidence: others.confidence, matches: others.tools.map((tool) => ({ server: label, tool })) }
}

/** Uses the server's own search, which covers unlisted tools; undefined if its reply is not from Unfold. */
async function foundThere(
  connection: Connection,
  query: string,
  limit: number,
): Promise<{ readonly confidence: string; readonly tools: readonly Tool[] } | undefined> {
  const { _meta } = await connection.call('search_tools', { query, limit }, { validate: false })
  const answer = (_meta?.[metaKeys.data] ?? {}) as { readonly names?: unknown; readonly confidence?: unknown }
  if (!Array.isArray(answer.names) || typeof answer.confidence !== 'string') return undefined
  const names = answer.names.filter((name) => typeof name === 'string').slice(0, limit)
  const described = await Promise.all(names.map((name) => connection.describe(name)))
  return { confidence: answer.confidence, tools: described.map(({ tool }) => tool) }
}

/** Skips unreachable servers with a warning. */
async function everywhere({ positionals, flags }: Invocation, io: Io, output: Output, limit: number): Promise<Found> {
  if (positionals.length === 0) throw usageError('What should the tool do? unfold search --all <words …>')
  const { servers } = await discoverServers(flags, io)
  // Project servers require approval by name.
  const mine = servers.filter(({ trust, disabled }) => trust === 'user' && !disabled)
  const all = await Promise.all(
    mine.map(async ({ name, target }) => {
      try {
        await using connection = await connectTo({ label: name, target }, flags, io, output)
        return (await connection.tools()).map((tool) => ({ server: name, tool }))
      } catch (error) {
        output.warn(`${name} is left out: ${toCommandError(error).message}`)
        return []
      }
    }),
  )
  return foundAmong(all.flat(), positionals.join(' '), limit)
}
