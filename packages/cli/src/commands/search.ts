import { documentOf, SearchIndex, signature, type Tool } from '@unfold-mcp/core'
import { exit, usageError } from '../exit.ts'
import { commandErrorOf } from '../failure.ts'
import { type Invocation, isSet, numberOf } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'
import { connectTo, knownServers, openServer } from '../servers.ts'
import { safeText } from '../text/safe.ts'

interface Among {
  readonly server: string
  readonly tool: Tool
}

/** Tools by what they do: in one server, or in all that are yours. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const { among, query } = isSet(flags, 'all') ? await everywhere(invocation, io, output) : await inOne(invocation, io, output)
  const index = new SearchIndex()
  for (const [id, { server, tool }] of among.entries()) index.set(documentOf(tool, { id: String(id), source: server }))
  const { matches, confidence } = index.search(query, { limit: numberOf(flags, 'limit') ?? 5 })
  const found = matches.flatMap(({ id, score }) => {
    const each = among[Number(id)]
    return each === undefined ? [] : [{ ...each, score }]
  })
  const lines = found.map(
    ({ server, tool }) => `${isSet(flags, 'all') ? `${safeText(server)}  ` : ''}${safeText(signature(tool))}`,
  )
  output.answer(found.length === 0 ? 'Nothing like that was found.' : lines.join('\n'), {
    query,
    confidence,
    matches: found.map(({ server, tool, score }) => ({ server, name: tool.name, signature: signature(tool), score })),
  })
  if (found.length > 0 && confidence !== 'strong') output.note('None of them may be what you want.')
  return found.length === 0 ? exit.tool : exit.ok
}

async function inOne(invocation: Invocation, io: Io, output: Output): Promise<{ among: readonly Among[]; query: string }> {
  const { connection, label, words } = await openServer(invocation, io, output)
  await using _ = connection
  if (words.length === 0) throw usageError('What should the tool do? unfold search <server> <words …>')
  return { among: (await connection.tools()).map((tool) => ({ server: label, tool })), query: words.join(' ') }
}

/** What cannot be reached is left out, and told. */
async function everywhere(
  { words, flags }: Invocation,
  io: Io,
  output: Output,
): Promise<{ among: readonly Among[]; query: string }> {
  if (words.length === 0) throw usageError('What should the tool do? unfold search --all <words …>')
  const { servers } = await knownServers(flags, io)
  // A project's own servers are asked about one by one, by name.
  const mine = servers.filter(({ trust, disabled }) => trust === 'user' && !disabled)
  const all = await Promise.all(
    mine.map(async ({ name, target }) => {
      try {
        await using connection = await connectTo({ label: name, target }, flags, io, output)
        return (await connection.tools()).map((tool) => ({ server: name, tool }))
      } catch (error) {
        output.warn(`${name} is left out: ${commandErrorOf(error).message}`)
        return []
      }
    }),
  )
  return { among: all.flat(), query: words.join(' ') }
}
