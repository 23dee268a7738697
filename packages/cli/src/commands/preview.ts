import type { Connection } from '@unfold-mcp/client'
import { estimateTokens, type HostProfile, hostById, hostProfiles, nearest, nearestHint } from '@unfold-mcp/core'
import { exit, usageError } from '../exit.ts'
import { oneGateway } from '../gateway/running.ts'
import { type Invocation, textOf } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'
import { differenceLines, previewLines } from '../preview/lines.ts'
import { type HostPreview, previewOf, type Sent } from '../preview/preview.ts'
import { connectTo, type Named, namedServer } from '../servers.ts'

type Era = Sent['era']

/** Shows what the model behind a host sees of a server: tools, tokens, the turns to a tool, and warnings. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const host = hostOf(textOf(flags, 'host'))
  const eras = erasOf(textOf(flags, 'era'), host)
  const server = await serverOf(invocation, io, output)
  const previews: HostPreview[] = []
  for (const era of eras)
    previews.push(previewOf(await sentTo(server, { era, host }, invocation, io, output), host, estimateTokens))
  const title = host?.title ?? 'Any client'
  const lines = previews.flatMap((preview, index) => [
    ...(index === 0 ? [] : ['']),
    ...previewLines(title, preview, { width: output.width, style: output.style }),
  ])
  const [session, stateless] = previews
  const differences = session === undefined || stateless === undefined ? [] : differenceLines(session, stateless)
  output.answer([...lines, ...(differences.length === 0 ? [] : ['', ...differences])].join('\n'), {
    server: server.label,
    ...(host !== undefined && { host: host.id }),
    clients: previews,
  })
  return exit.ok
}

/** The server that was named; without one, the running gateway. */
async function serverOf(invocation: Invocation, io: Io, output: Output): Promise<Pick<Named, 'label' | 'target'>> {
  const { words, command, flags } = invocation
  if (words.length > 0 || command !== undefined || flags.server !== undefined || io.env.UNFOLD_SERVER !== undefined)
    return namedServer(invocation, io, output)
  const { url } = await oneGateway(flags, io, output)
  return { label: 'gateway', target: { url } }
}

interface Seen {
  readonly era: Era
  readonly host: HostProfile | undefined
}

/** Connects the way such a client would, and takes what it is sent. Nothing is activated. */
async function sentTo(
  server: Pick<Named, 'label' | 'target'>,
  { era, host }: Seen,
  { flags }: Invocation,
  io: Io,
  output: Output,
): Promise<Sent> {
  const name = host?.clientNames[0]?.replace('*', '') ?? 'unfold-preview'
  // On 2026-07-28 the address says which host it is; in a session the client's own name does.
  const isAddressed = 'url' in server.target && host !== undefined
  await using connection = await connectTo(server, { ...flags, 'no-cache': true }, io, output, {
    protocol: era === 'session' ? 'session' : '2026-07-28',
    clientInfo: { name, version: '0.0.0' },
    ...(isAddressed && { view: `host=${host.id}` }),
  })
  const [tools, outline] = [await connection.tools(), await connection.outline()]
  const { protocolVersion: revision, instructions } = connection
  const search = await searchFor(connection, tools, outline)
  return { era, revision, tools, outline, instructions, search }
}

/** A search for the first unlisted tool, by the words of its name. */
async function searchFor(connection: Connection, tools: Sent['tools'], outline: Sent['outline']): Promise<Sent['search']> {
  const listed = new Set(tools.map(({ name }) => name))
  const target = outline?.tools.find(({ name }) => !listed.has(name))?.name
  if (target === undefined || !listed.has('search_tools')) return undefined
  const query = target.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim()
  const { content } = await connection.call('search_tools', { query }, { validate: false })
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  return { query, target, text }
}

function hostOf(id: string | undefined): HostProfile | undefined {
  if (id === undefined) return undefined
  const found = hostById(id)
  if (found !== undefined) return found
  const known = hostProfiles.map((host) => host.id)
  throw usageError(`Unknown host "${id}".${nearestHint(nearest(id, known))} Known hosts: ${known.join(', ')}.`, { known })
}

function erasOf(asked: string | undefined, host: HostProfile | undefined): readonly Era[] {
  if (asked === undefined) return host === undefined ? ['session', 'stateless'] : [host.era]
  if (asked === 'session') return ['session']
  if (asked === '2026-07-28' || asked === 'stateless') return ['stateless']
  if (asked === 'both') return ['session', 'stateless']
  throw usageError(`--era is session, 2026-07-28 or both, not "${asked}".`)
}
