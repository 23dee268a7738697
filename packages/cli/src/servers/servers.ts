import { basename } from 'node:path'
import { type Connection, type ConnectOptions, connect, fileCache, type ProcessState, type Target } from '@unfold-mcp/client'
import { nearest } from '@unfold-mcp/core'
import { shellQuote } from '../arguments/quote.ts'
import { CommandError, exit, usageError } from '../base/exit.ts'
import { dataFolder, type Io } from '../base/io.ts'
import {
  approvalStore,
  type FoundServer,
  type FoundServers,
  findServers,
  permissionFor,
  problemText,
  projectRoot,
  resolveServer,
  type System,
} from '../config/index.ts'
import { type Flags, type Invocation, isSet, numberOf, textOf, textsOf } from '../grammar/grammar.ts'
import { verbs } from '../grammar/verbs.ts'
import { codeVariables, requireCodeConsent } from '../interactive/code-consent.ts'
import { requireConfirmation } from '../interactive/require-confirmation.ts'
import type { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'
import { targetWithSecrets } from './secrets.ts'

export interface ResolvedServer {
  /** Name in messages. */
  readonly label: string
  readonly target: Target
  /** Positional arguments after the server. */
  readonly positionals: readonly string[]
}

/** Servers of all configuration files, or of --config. */
export async function discoverServers(flags: Flags, io: Io): Promise<FoundServers> {
  const around = await system(io)
  const file = textOf(flags, 'config')
  return findServers(around, file === undefined ? {} : { file })
}

async function system({ platform, home, cwd, env }: Io): Promise<System> {
  return { platform, home, cwd, env, root: await projectRoot({ platform, home, cwd, env }) }
}

export const isAddress = (word: string): boolean => /^https?:\/\//iu.test(word)

/** Resolves the server of a command line: the command after `--`, a URL, or a configured name. */
export async function resolveServerArgument(invocation: Invocation, io: Io, output: Output): Promise<ResolvedServer> {
  const { command, flags, positionals } = invocation
  if (command !== undefined) {
    const [program = '', ...args] = command
    return { label: program, target: { command: program, args, env: variables(flags), cwd: io.cwd }, positionals }
  }
  const preset = textOf(flags, 'server') ?? io.env.UNFOLD_SERVER
  const [first, ...others] = preset === undefined ? positionals : [preset, ...positionals]
  if (first === undefined)
    throw usageError(
      `Missing server: pass a name, a URL, or a command after "--". Run "unfold ${invocation.verb} --help" for usage.`,
    )
  if (isAddress(first)) return { label: first, target: { url: first, headers: headers(flags) }, positionals: others }
  const found = await discoverServers(flags, io)
  const choice = resolveServer(first, found)
  if (choice.kind !== 'found') {
    const details = choice.kind === 'unknown' ? { nearest: choice.nearest } : {}
    const close = invocation.isImplied && choice.kind === 'unknown' ? nearest(first, Object.keys(verbs)) : []
    const verb = close.length === 0 ? '' : ` Or did you mean: ${close.map((each) => `unfold ${each}`).join(', ')}?`
    const hint = choice.kind === 'unknown' && isProgram(first) ? commandHint(invocation) : verb
    throw new CommandError(exit.usage, `${choice.kind}_server`, `${choice.message}${hint}`, {
      details: { ...details, ...(close.length > 0 && { verbs: close }) },
    })
  }
  // An invalid file of another client does not matter here; an invalid unfold.json might define this name.
  for (const problem of found.problems)
    if (problem.server === undefined && basename(problem.file) === 'unfold.json') output.warn(problemText(problem))
  await requirePermission(choice.server, flags, io, output)
  return {
    label: choice.server.name,
    target: withExtras(await targetWithSecrets(choice.server, flags, io, output), flags),
    positionals: others,
  }
}

const isProgram = (word: string): boolean =>
  /^(?:node|npx|npm|pnpm|bun|bunx|deno|tsx|uv|uvx|pipx|python3?|docker|podman)$|^\.{0,2}\/|\.(?:[cm]?[jt]s|py|sh)$/u.test(word)

/** The command line as it is most likely meant. */
function commandHint({ verb, positionals, rest }: Invocation): string {
  const words = shellQuote([...positionals, ...rest])
  return ` To start a server with a command, put the command after "--": unfold ${verb === 'call' ? 'call <tool>' : verb} -- ${words}`
}

/** Command to call a tool of the same server. */
export function callCommand({ command, flags }: Invocation, label: string, { env }: Io): string {
  const isFirst = command !== undefined || textOf(flags, 'server') !== undefined || env.UNFOLD_SERVER !== undefined
  return isFirst ? 'unfold call' : `unfold call ${shellQuote([label])}`
}

/** Command to list the tools of the same server. */
export const listCommand = ({ command }: Invocation, label: string): string =>
  command === undefined ? `unfold list ${shellQuote([label])}` : `unfold list -- ${shellQuote(command)}`

/** The server command after `--`, if there is one. */
export const commandTail = ({ command }: Invocation): string => (command === undefined ? '' : `-- ${shellQuote(command)}`)

export async function openServer(
  invocation: Invocation,
  io: Io,
  output: Output,
  options: Partial<ConnectOptions> = {},
): Promise<ResolvedServer & { readonly connection: Connection }> {
  const resolved = await resolveServerArgument(invocation, io, output)
  return { ...resolved, connection: await connectTo(resolved, invocation.flags, io, output, options) }
}

/** Connects with stored credentials and the tool cache. */
export async function connectTo(
  { label, target }: Pick<ResolvedServer, 'label' | 'target'>,
  flags: Flags,
  io: Io,
  output: Output,
  options: Partial<ConnectOptions> = {},
): Promise<Connection> {
  const seconds = numberOf(flags, 'timeout')
  const protocol = protocolOf(textOf(flags, 'protocol'))
  const signed = await signedTarget(target, io, output)
  return connect(signed.target, {
    name: label,
    signal: io.signal,
    ...(seconds === undefined && { installTimeoutMs }),
    onProcess: installationNotice(label, output),
    onWarning: (warning) => output.warn(warning),
    ...(isSet(flags, 'debug') && { onStderr: (line: string) => output.note(`[${safeText(label)}] ${safeText(line)}`) }),
    ...(!isSet(flags, 'no-cache') && { cache: fileCache(cacheFolder(io), { onWarning: (warning) => output.warn(warning) }) }),
    ...(seconds !== undefined && { timeoutMs: seconds * 1_000 }),
    ...(protocol !== undefined && { protocol }),
    ...(signed.credential !== undefined && { credential: signed.credential }),
    ...options,
  })
}

// npm, uv and Docker may download for minutes.
const installTimeoutMs = 600_000
const installNoticeMs = 5_000

function installationNotice(label: string, output: Output): (pid: number, state: ProcessState) => void {
  let timer: NodeJS.Timeout | undefined
  return (_pid, state) => {
    clearTimeout(timer)
    if (state !== 'installing') return
    timer = setTimeout(() => output.note(`Waiting for ${safeText(label)}, which may still be installing …`), installNoticeMs)
    timer.unref()
  }
}

/** Adds the stored sign-in, unless the target has an Authorization header. */
async function signedTarget(
  target: Target,
  io: Io,
  output: Output,
): Promise<{ readonly target: Target; readonly credential?: string }> {
  if (!('url' in target) || target.auth !== undefined) return { target }
  if (Object.keys(target.headers ?? {}).some((name) => name.toLowerCase() === 'authorization')) return { target }
  const { storedSignIn } = await import('../login/stored-sign-in.ts')
  const signed = await storedSignIn(target.url, io, { warn: (message) => output.warn(message) })
  return signed === undefined ? { target } : { target: { ...target, auth: signed.auth }, credential: signed.id }
}

/** Tool cache, also read by shell completion. */
export const cacheFolder = (io: Pick<Io, 'env' | 'home'>): string => `${dataFolder(io)}/cache/tools`

function protocolOf(text: string | undefined): ConnectOptions['protocol'] {
  if (text === undefined) return undefined
  if (text === 'auto' || text === 'session' || text === '2026-07-28') return text
  throw usageError(`--protocol must be auto, session or 2026-07-28, not "${text}".`)
}

/** A project server requires approval of its current definition. */
async function requirePermission(server: FoundServer, flags: Flags, io: Io, output: Output): Promise<void> {
  const store = approvalStore(dataFolder(io), (message) => output.warn(message))
  if (permissionFor(server, await store.list()) === 'allowed') return
  const shown = safeText(JSON.stringify(server.shown), { limit: 500 })
  const what = `Server "${safeText(server.name)}" is defined by this project (${safeText(server.source.file)}:${server.source.line}): ${shown}`
  await requireCodeConsent(codeVariables({ [server.name]: server.target }), { flags, io, otherwise: 'Not started.' })
  await requireConfirmation(`${what}\nRun it?`, {
    flags,
    io,
    reason: 'not_approved',
    otherwise: 'Not started.',
    blocked: `${what}\nNot approved. Review it, then use --yes, or run this in a terminal.`,
  })
  await store.approve(server)
}

function withExtras(target: Target, flags: Flags): Target {
  if ('command' in target) return { ...target, env: { ...target.env, ...variables(flags) } }
  return 'url' in target ? { ...target, headers: { ...target.headers, ...headers(flags) } } : target
}

function variables(flags: Flags): Record<string, string> {
  return Object.fromEntries(textsOf(flags, 'env').map((text) => pair('env', text, '=')))
}

function headers(flags: Flags): Record<string, string> {
  return Object.fromEntries(textsOf(flags, 'header').map((text) => pair('header', text, ':')))
}

function pair(flag: string, text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark)
  if (at < 1) throw usageError(`--${flag} must be ${flag === 'env' ? 'NAME=value' : '"name: value"'}, not "${text}".`)
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
