import { access, constants, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { toCommandError } from '../base/failure.ts'
import { dataFolder, type Io } from '../base/io.ts'
import { approvalStore, type FoundServer, permissionFor } from '../config/index.ts'
import { type Flags, type Invocation, isSet, numberOf } from '../grammar/grammar.ts'
import type { Output } from '../output/output.ts'
import { targetWithSecrets } from '../servers/secrets.ts'
import { cacheFolder, connectTo, discoverServers, type ResolvedServer, resolveServerArgument } from '../servers/servers.ts'
import { plural } from '../text/number.ts'
import { commandPath } from './command-path.ts'

/** Result of one check. `login`: the server works, but requires a sign-in. */
export interface Finding {
  readonly check: 'node' | 'folder' | 'cache' | 'config' | 'server'
  readonly about: string
  readonly state: 'ok' | 'note' | 'login' | 'failed'
  readonly message: string
  /** Next step for the user. */
  readonly next?: string
  /** Incomplete npx cache folder. */
  readonly npxFolder?: string
  readonly [more: string]: unknown
}

const minimumNode = [20, 19] as const
const defaultSeconds = 20
const concurrency = 4

/** Runs all checks and yields each result as soon as it is known. */
export async function* findingsFor(invocation: Invocation, io: Io, output: Output): AsyncGenerator<Finding> {
  yield nodeFinding(process.versions.node)
  yield await folderFinding(dataFolder(io))
  yield* await cacheFindings(cacheFolder(io))
  if (invocation.positionals.length > 0 || invocation.command !== undefined) {
    const named = await resolveServerArgument(invocation, io, output)
    yield await serverFinding(named, invocation.flags, io, output)
    return
  }
  const { servers, problems } = await discoverServers(invocation.flags, io)
  for (const problem of problems)
    yield {
      check: 'config',
      about: problem.file,
      state: 'failed',
      message: `${problem.line}:${problem.column}: ${problem.message}`,
      next: `Fix ${problem.file}:${problem.line}`,
    }
  const files = new Set(servers.flatMap(({ source, also }) => [source, ...also]).map(({ file }) => file))
  for (const file of files)
    yield { check: 'config', about: file, state: 'ok', message: plural(serversIn(servers, file), 'server') }
  if (servers.length === 0)
    yield {
      check: 'config',
      about: 'servers',
      state: 'note',
      message: 'none configured',
      next: 'unfold list -- npx -y @modelcontextprotocol/server-everything',
    }
  yield* serverFindings(servers, invocation.flags, io, output)
}

const serversIn = (servers: readonly FoundServer[], file: string): number =>
  servers.filter(({ source, also }) => [source, ...also].some((each) => each.file === file)).length

export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isSupported = major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1])
  const base = { check: 'node', about: 'Node', version } as const
  if (isSupported) return { ...base, state: 'ok', message: version }
  const minimum = minimumNode.join('.')
  return {
    ...base,
    state: 'failed',
    message: `${version} is older than ${minimum}`,
    next: `Install Node ${minimum} or newer from https://nodejs.org`,
  }
}

async function folderFinding(folder: string): Promise<Finding> {
  const base = { check: 'folder', about: folder } as const
  try {
    await access(folder, constants.W_OK)
    return { ...base, state: 'ok', message: 'writable' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT') return { ...base, state: 'ok', message: 'created on first use' }
    return {
      ...base,
      state: 'failed',
      message: `not writable (${String(code)})`,
      next: 'Set UNFOLD_HOME to a writable folder',
    }
  }
}

async function cacheFindings(folder: string): Promise<readonly Finding[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'))
  if (names.length === 0) return []
  const times = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  const latest = Math.max(...times)
  const at = new Date(latest).toISOString()
  const base = { check: 'cache', about: folder, servers: names.length, latest: at } as const
  // Tolerates clock differences between machines that share a disk.
  if (latest > Date.now() + 60_000)
    return [
      {
        ...base,
        state: 'failed',
        message: `last updated at ${at}, which is in the future`,
        next: 'Set the system clock',
      },
    ]
  return [
    {
      ...base,
      state: 'ok',
      message: `${plural(names.length, 'server')} cached, last updated at ${at}`,
    },
  ]
}

/** Checks a few servers at a time, and yields in order. */
async function* serverFindings(servers: readonly FoundServer[], flags: Flags, io: Io, output: Output): AsyncGenerator<Finding> {
  const approvals = await approvalStore(dataFolder(io), (message) => output.warn(message)).list()
  for (let at = 0; at < servers.length; at += concurrency) {
    const some = servers.slice(at, at + concurrency).map(async (server): Promise<Finding> => {
      const about = { check: 'server', about: server.name } as const
      if (server.disabled) return { ...about, state: 'note', message: 'disabled in its configuration' }
      if (permissionFor(server, approvals) === 'allowed')
        return serverFinding({ label: server.name, target: server.target, found: server }, flags, io, output)
      const message = 'project server, not approved'
      return { ...about, state: 'note', message, next: `unfold list ${server.name}` }
    })
    yield* await Promise.all(some)
  }
}

async function serverFinding(
  server: Pick<ResolvedServer, 'label' | 'target'> & { readonly found?: FoundServer },
  flags: Flags,
  io: Io,
  output: Output,
): Promise<Finding> {
  const { label, target, found } = server
  const base = { check: 'server', about: label } as const
  if ('command' in target) {
    const path = await commandPath(target.command, { ...io, cwd: target.cwd ?? io.cwd, env: { ...io.env, ...target.env } })
    if (path === undefined)
      return {
        ...base,
        state: 'failed',
        message: `command not found: ${target.command}`,
        next: `Install ${target.command}, or use its full path in the configuration`,
      }
  }
  if (isSet(flags, 'offline')) return { ...base, state: 'ok', message: 'not connected (--offline)' }
  const start = performance.now()
  try {
    const timeoutMs = (numberOf(flags, 'timeout') ?? defaultSeconds) * 1_000
    const resolved = found === undefined ? target : await targetWithSecrets(found, flags, io, output)
    await using connection = await connectTo({ label, target: resolved }, flags, io, output, { timeoutMs })
    const tools = await connection.tools()
    const identity = await connection.identity()
    const ms = Math.round(performance.now() - start)
    const { protocolVersion } = connection
    const sandbox = 'command' in target ? target.sandbox : undefined
    const limits = sandbox === undefined ? '' : `, sandbox ${sandbox.preset}`
    const message = `${plural(tools.length, 'tool')}, MCP ${protocolVersion}, ${identity === undefined ? 'no identity' : `identity ${identity.server_id}`}, ${ms} ms${limits}`
    return { ...base, state: 'ok', message, tools: tools.length, protocol: protocolVersion, identity: identity?.server_id, ms }
  } catch (error) {
    if (io.signal.aborted) throw error
    const { reason, message, details } = toCommandError(error, label)
    const [first = message] = message.split('\n')
    if (typeof details.npxFolder === 'string') {
      const problem = `${message}\nThe npx folder ${details.npxFolder} is incomplete; an installation may have been interrupted.`
      return { ...base, state: 'failed', message: problem, reason, npxFolder: details.npxFolder, next: 'unfold doctor --fix' }
    }
    if (reason === 'login_required') return { ...base, state: 'login', message: first, reason, next: `unfold login ${label}` }
    // The message has the next step already.
    if (typeof details.sandbox === 'string') return { ...base, state: 'failed', message, reason, sandbox: details.sandbox }
    return { ...base, state: 'failed', message, reason, next: nextFor(reason, label, target) }
  }
}

function nextFor(reason: string, label: string, target: ResolvedServer['target']): string {
  if (reason === 'timeout') return `unfold list ${label} --timeout 120`
  if ('url' in target) return `Check that ${target.url} is correct and running`
  return `unfold list ${label} --debug`
}
