import { isClientError } from '@unfold-mcp/client'
import { estimateTokens, type HostProfile, hostById, hostProfiles, nearest, nearestHint } from '@unfold-mcp/core'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { exposureNames, loadingFor } from '../../clients/exposure.ts'
import { requireGateway } from '../../gateway/running.ts'
import { type Invocation, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { explore } from '../../preview/explore.ts'
import { previewLines } from '../../preview/lines.ts'
import { notesOf } from '../../preview/notes.ts'
import { previewOf } from '../../preview/preview.ts'
import type { Transcript } from '../../preview/transcript.ts'
import { connectTo, type ResolvedServer, resolveServerArgument } from '../../servers/servers.ts'
import { safeText } from '../../text/safe.ts'

type Era = Transcript['era']

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const host = hostOf(textOf(flags, 'host'))
  const eras = erasOf(textOf(flags, 'era'), host)
  const server = await serverOf(invocation, io, output)
  const { all, unsupported } = await recordEras(
    eras,
    (era) => recordTranscript(server, { era, host }, invocation, io, output),
    server.label,
  )
  const [first] = all
  const serverName = server.name ?? first?.server.name ?? server.label
  const isLoaded = asksToLoad(server)
  const previews = all.map((transcript) => previewOf(transcript, { host, isLoaded, serverName, estimate: estimateTokens }))
  const notes = notesOf(all, { host, isLoaded, unsupported })
  const title = `${first?.server.name ?? server.label} ${first?.server.version ?? ''}`.trim()
  const shown = { title: `${title}, as seen by ${host?.title ?? 'any client'}`, previews, notes }
  const lines = previewLines(shown, { width: output.width, style: output.style })
  output.result(lines.join('\n'), {
    server: server.label,
    ...(host !== undefined && { host: host.id }),
    clients: previews,
    notes,
  })
  return exit.ok
}

/** Whether the URL requests a short list, for which `unfold connect` also disables deferral. */
function asksToLoad({ target }: Previewed): boolean {
  if (!('url' in target) || !URL.canParse(target.url)) return false
  const exposure = exposureNames.find((name) => name === new URL(target.url).searchParams.get('exposure'))
  return exposure !== undefined && loadingFor(exposure) === 'loaded'
}

interface Previewed extends Pick<ResolvedServer, 'label' | 'target'> {
  /** Name in the host's configuration, if known. */
  readonly name?: string
  readonly isGateway?: boolean
}

/** The given server, or the running gateway. */
async function serverOf(invocation: Invocation, io: Io, output: Output): Promise<Previewed> {
  const { positionals, command, flags } = invocation
  const isPreset = command !== undefined || flags.server !== undefined || io.env.UNFOLD_SERVER !== undefined
  const [extra] = isPreset ? positionals : positionals.slice(1)
  if (extra !== undefined) throw usageError(`Too many arguments: "${extra}". unfold preview takes one server.`)
  if (positionals.length > 0 || isPreset) {
    const named = await resolveServerArgument(invocation, io, output)
    return named.label === positionals[0] && !('url' in named.target) ? { ...named, name: named.label } : named
  }
  const { url } = await gatewayOf(invocation, io, output)
  const { target } = await resolveServerArgument({ ...invocation, positionals: [url] }, io, output)
  return { label: 'gateway', name: 'unfold', target, isGateway: true }
}

async function gatewayOf({ flags }: Invocation, io: Io, output: Output): Promise<{ readonly url: string }> {
  try {
    return await requireGateway(flags, io, output)
  } catch (error) {
    if (!(error instanceof CommandError) || error.reason !== 'not_running') throw error
    const file = textOf(flags, 'config')
    const [what, where] = file === undefined ? ['No gateway is running', ''] : [`No gateway is running with ${file}`, ` ${file}`]
    const others = 'preview a server: unfold preview <server>, unfold preview <address>, or unfold preview -- node server.js'
    throw new CommandError(error.code, error.reason, `${what}. Start it with "unfold serve${where}", or ${others}`, {
      cause: error,
    })
  }
}

interface ClientOptions {
  readonly era: Era
  readonly host: HostProfile | undefined
}

/** Connects as this client and records what the server sends, including after each step. */
async function recordTranscript(
  server: Previewed,
  { era, host }: ClientOptions,
  { flags }: Invocation,
  io: Io,
  output: Output,
): Promise<Transcript> {
  const name = host?.clientNames[0]?.replace('*', '') ?? 'unfold-preview'
  const isShared = 'url' in server.target
  await using connection = await connectTo(server, { ...flags, 'no-cache': true }, io, output, {
    protocol: era === 'session' ? 'session' : '2026-07-28',
    clientInfo: { name, version: '0.0.0' },
    // On 2026-07-28 the URL identifies the host; in a session the client name does.
    ...(isShared && host !== undefined && { view: `host=${host.id}` }),
  }).catch((error: unknown) => {
    throw server.isGateway === true && isClientError(error, 'login_required') ? tokenError(error) : error
  })
  const relists = host === undefined || host.relists === 'immediately'
  const { protocolVersion: revision, instructions } = connection
  const { name: serverName, version } = connection.server
  const transcript = await explore(connection, { relists, isShared })
  return { era, revision, server: { name: serverName, version }, instructions, ...transcript }
}

const tokenError = (cause: unknown): CommandError =>
  new CommandError(
    exit.login,
    'login_required',
    'The gateway requires a valid token. Create one with "unfold token add <name>", and pass it with --header "Authorization: Bearer <token>".',
    { cause },
  )

interface Spoken {
  readonly all: readonly Transcript[]
  readonly unsupported: readonly Era[]
}

/** Records each supported era; an era requested explicitly must be supported. */
async function recordEras({ eras, isChosen }: Eras, send: (era: Era) => Promise<Transcript>, label: string): Promise<Spoken> {
  const all: Transcript[] = []
  const unsupported: Era[] = []
  for (const era of eras) {
    try {
      all.push(await send(era))
    } catch (error) {
      if (era !== 'stateless' || !isClientError(error, 'protocol') || error.details.unsupportedRevision === undefined) throw error
      if (isChosen)
        throw new CommandError(
          exit.failed,
          'unsupported_era',
          `${safeText(label)} does not support MCP 2026-07-28. Use --era session.`,
          { cause: error },
        )
      unsupported.push(era)
    }
  }
  // Hosts fall back to a session.
  return { all: all.length > 0 ? all : [await send('session')], unsupported }
}

function hostOf(id: string | undefined): HostProfile | undefined {
  if (id === undefined) return undefined
  const found = hostById(id)
  if (found !== undefined) return found
  const known = hostProfiles.map((host) => host.id)
  throw usageError(`Unknown host "${id}".${nearestHint(nearest(id, known))} Known hosts: ${known.join(', ')}.`, { known })
}

interface Eras {
  readonly eras: readonly Era[]
  /** Whether the user requested exactly this era. */
  readonly isChosen: boolean
}

function erasOf(asked: string | undefined, host: HostProfile | undefined): Eras {
  const both: Eras = { eras: ['session', 'stateless'], isChosen: false }
  if (asked === undefined) return host === undefined ? both : { eras: [host.era], isChosen: false }
  if (asked === 'both') return both
  if (asked === 'session') return { eras: ['session'], isChosen: true }
  if (asked === '2026-07-28' || asked === 'stateless') return { eras: ['stateless'], isChosen: true }
  throw usageError(`--era must be session, 2026-07-28 or both, not "${asked}".`)
}
