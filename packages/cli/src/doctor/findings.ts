import { access, constants, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { toCommandError } from '../base/failure.ts'
import { dataFolder, type Io } from '../base/io.ts'
import { approvalStore, type FoundServer, permissionFor, problemText } from '../config/index.ts'
import { type Flags, type Invocation, isSet, numberOf } from '../grammar/grammar.ts'
import type { Output } from '../output/output.ts'
import { cacheFolder, connectTo, discoverServers, type ResolvedServer, resolveServerArgument } from '../servers/servers.ts'
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

const oldest = [20, 19] as const
const defaultSeconds = 20
const atOnce = 4

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
      message: problemText(problem),
      next: `Correct ${problem.file}:${problem.line}`,
    }
  const files = new Set(servers.flatMap(({ source, also }) => [source, ...also]).map(({ file }) => file))
  for (const file of files) yield { check: 'config', about: file, state: 'ok', message: `${countIn(servers, file)} read` }
  if (servers.length === 0)
    yield {
      check: 'config',
      about: 'servers',
      state: 'note',
      message: 'No configuration here has any.',
      next: 'unfold list -- npx -y @modelcontextprotocol/server-everything',
    }
  yield* serverFindings(servers, invocation.flags, io, output)
}

const countIn = (servers: readonly FoundServer[], file: string): string => {
  const count = servers.filter(({ source, also }) => [source, ...also].some((each) => each.file === file)).length
  return count === 1 ? '1 server' : `${count} servers`
}

export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
  const base = { check: 'node', about: 'Node', version } as const
  if (isNew) return { ...base, state: 'ok', message: version }
  const wanted = oldest.join('.')
  return {
    ...base,
    state: 'failed',
    message: `${version} is older than ${wanted}.`,
    next: `Install Node ${wanted} or newer from https://nodejs.org`,
  }
}

async function folderFinding(folder: string): Promise<Finding> {
  const base = { check: 'folder', about: folder } as const
  try {
    await access(folder, constants.W_OK)
    return { ...base, state: 'ok', message: 'can be written to' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT') return { ...base, state: 'ok', message: 'is made when something is kept' }
    return {
      ...base,
      state: 'failed',
      message: `cannot be written to (${String(code)}).`,
      next: 'Set UNFOLD_HOME to a folder of yours',
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
        message: `The latest list was kept at ${at}, which is yet to come.`,
        next: 'Set the clock of this machine',
      },
    ]
  return [
    {
      ...base,
      state: 'ok',
      message: `lists of ${names.length} ${names.length === 1 ? 'server' : 'servers'}, the latest of ${at}`,
    },
  ]
}

/** Checks a few servers at a time, and yields in order. */
async function* serverFindings(servers: readonly FoundServer[], flags: Flags, io: Io, output: Output): AsyncGenerator<Finding> {
  const approvals = await approvalStore(dataFolder(io), (message) => output.warn(message)).list()
  for (let at = 0; at < servers.length; at += atOnce) {
    const some = servers.slice(at, at + atOnce).map(async (server): Promise<Finding> => {
      const about = { check: 'server', about: server.name } as const
      if (server.disabled) return { ...about, state: 'note', message: 'is switched off in its configuration.' }
      if (permissionFor(server, approvals) === 'allowed')
        return serverFinding({ label: server.name, target: server.target }, flags, io, output)
      const message = 'comes with this project and was not approved.'
      return { ...about, state: 'note', message, next: `unfold list ${server.name}` }
    })
    yield* await Promise.all(some)
  }
}

async function serverFinding(
  server: Pick<ResolvedServer, 'label' | 'target'>,
  flags: Flags,
  io: Io,
  output: Output,
): Promise<Finding> {
  const { label, target } = server
  const base = { check: 'server', about: label } as const
  if ('command' in target) {
    const path = await commandPath(target.command, { ...io, cwd: target.cwd ?? io.cwd, env: { ...io.env, ...target.env } })
    if (path === undefined)
      return {
        ...base,
        state: 'failed',
        message: `There is no command "${target.command}" on the path.`,
        next: `Install ${target.command}, or give its whole path in the configuration`,
      }
  }
  if (isSet(flags, 'offline')) return { ...base, state: 'ok', message: 'was not connected to (--offline)' }
  const start = performance.now()
  try {
    const timeoutMs = (numberOf(flags, 'timeout') ?? defaultSeconds) * 1_000
    await using connection = await connectTo(server, flags, io, output, { timeoutMs })
    const tools = await connection.tools()
    const identity = await connection.identity()
    const ms = Math.round(performance.now() - start)
    const { protocolVersion } = connection
    const count = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`
    const message = `${count}, MCP ${protocolVersion}, ${identity === undefined ? 'no identity' : `identity ${identity.server_id}`}, ${ms} ms`
    return { ...base, state: 'ok', message, tools: tools.length, protocol: protocolVersion, identity: identity?.server_id, ms }
  } catch (error) {
    if (io.signal.aborted) throw error
    const { reason, message, details } = toCommandError(error, label)
    const [first = message] = message.split('\n')
    if (typeof details.npxFolder === 'string') {
      const problem = `${message}\nThe npx folder ${details.npxFolder} is incomplete, probably because an installation was interrupted.`
      return { ...base, state: 'failed', message: problem, reason, npxFolder: details.npxFolder, next: 'unfold doctor --fix' }
    }
    if (reason === 'login_required') return { ...base, state: 'login', message: first, reason, next: `unfold login ${label}` }
    return { ...base, state: 'failed', message, reason, next: nextFor(reason, label, target) }
  }
}

function nextFor(reason: string, label: string, target: ResolvedServer['target']): string {
  if (reason === 'timeout') return `unfold list ${label} --timeout 120`
  if ('url' in target) return `Check that ${target.url} is right, and that it runs`
  return `unfold list ${label} --debug`
}
