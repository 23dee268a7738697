import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '@unfold-mcp/server'
import { type Kind, kinds, type PerformanceSnapshot, type Records, type SocketStatus } from '../records/records.ts'
import { quoted } from '../reply/reply.ts'
import type { Recording } from './recording.ts'
import { format, recordSchemas, type SavedSession, sessionSchema, version } from './session-format.ts'

/** What a session keeps besides the recording. */
export interface SavedBaselines {
  entries(): readonly PerformanceSnapshot[]
  restore(entries: readonly PerformanceSnapshot[]): void
}

export interface SessionLocation {
  /** The folder that the sessions are in, a file each. */
  readonly directory: string
  /** 1 to 64 small letters, digits, dots, underscores and hyphens, the first a letter or a digit. */
  readonly name: string
}

/** Larger ones are neither written nor read. */
export const maxBytes = 64 * 1024 * 1024

/** Writes everything that is recorded to a file, whole or not at all; what was kept under the name before is replaced. */
export async function saveSession(
  recording: Recording,
  baselines: Pick<SavedBaselines, 'entries'>,
  { directory, name, now = Date.now }: SessionLocation & { readonly now?: () => number },
): Promise<{ readonly path: string; readonly bytes: number; readonly leftOut: number }> {
  const path = pathOf(directory, name)
  const { text, leftOut } = serializeSession(recording, baselines.entries(), new Date(now()).toISOString())
  await makeFolder(directory)
  checkFile(await statFile(path), name, path)
  await replaceFile(path, text)
  return { path, bytes: Buffer.byteLength(text), leftOut }
}

/**
 * Replaces everything that is recorded by what was kept under a name, without what today's rules take out. Throws, and changes
 * nothing, when there is no such session or it is not one in every part.
 */
export async function loadSession(
  recording: Recording,
  baselines: Pick<SavedBaselines, 'restore'>,
  { directory, name }: SessionLocation,
): Promise<{ readonly savedAt: string; readonly records: number }> {
  const session = await readSession(directory, name)
  const { redactor } = recording
  const clean = <K extends Kind>(kind: K, records: readonly Records[K][]): readonly Records[K][] =>
    records.map((record) => ({ ...redactor.record(kind, record), seq: record.seq }) as unknown as Records[K])
  const { logs, network, sockets, actions, snapshots, audits } = session.records
  const records = {
    logs: clean('logs', logs),
    network: clean('network', network),
    sockets: clean('sockets', sockets),
    actions: clean('actions', actions),
    snapshots: clean('snapshots', snapshots),
    audits: clean('audits', audits),
  }
  const kept = clean('snapshots', session.baselines)
  recording.restore(
    records,
    session.connections.map((status) => closedSocket(redactor.connection(status))),
  )
  baselines.restore(kept)
  return { savedAt: session.savedAt, records: kinds.reduce((sum, kind) => sum + records[kind].length, 0) }
}

/** The sessions in a folder, newest first. */
export async function listSessions(
  directory: string,
): Promise<readonly { readonly name: string; readonly bytes: number; readonly savedAt: string }[]> {
  if ((await statFile(directory)) === undefined) return []
  await checkFolder(directory)
  const names = (await readdir(directory)).filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))
  const sessions: { name: string; bytes: number; savedAt: string }[] = []
  for (const name of names.filter(isName).slice(0, maxListed)) {
    const state = await statFile(pathOf(directory, name))
    if (state?.isFile() === true) sessions.push({ name, bytes: state.size, savedAt: state.mtime.toISOString() })
  }
  return sessions.toSorted((a, b) => (a.savedAt < b.savedAt ? 1 : -1))
}

const maxListed = 1_000
const isName = (name: string): boolean => /^[a-z0-9][a-z0-9._-]{0,63}$/.test(name)

function pathOf(directory: string, name: string): string {
  if (isName(name)) return join(directory, `${name}.json`)
  throw new ToolError(
    `${quoted(name, 70)} cannot be a session's name. Use 1 to 64 small letters, digits, dots, underscores and hyphens, and begin with ` +
      'a letter or a digit.',
  )
}

function serializeSession(
  recording: Recording,
  baselines: readonly PerformanceSnapshot[],
  savedAt: string,
): { text: string; leftOut: number } {
  let leftOut = 0
  let bytes = 0
  // What could not be loaded again would make the whole file worthless.
  const loadable = <K extends Kind>(kind: K): readonly Records[K][] => {
    const all = [...recording.of(kind)]
    const good = all.filter((record) => recordSchemas[kind].safeParse(record).success)
    leftOut += all.length - good.length
    bytes += recording.of(kind).bytes
    return good
  }
  const session: SavedSession = {
    format,
    version,
    savedAt,
    records: {
      logs: loadable('logs'),
      network: loadable('network'),
      sockets: loadable('sockets'),
      actions: loadable('actions'),
      snapshots: loadable('snapshots'),
      audits: loadable('audits'),
    },
    connections: recording.connections(),
    baselines,
  }
  // A character takes at least one byte in a file and two here; what is far too large is not even written out.
  const text = bytes > 4 * maxBytes ? undefined : JSON.stringify(session)
  if (text !== undefined && Buffer.byteLength(text) <= maxBytes) return { text, leftOut }
  throw new ToolError(
    `What is recorded is larger than a session may be (${maxBytes / 1024 / 1024} MB). Forget a part of it with configure clear, or ` +
      'lower the limits with configure buffers.',
  )
}

async function readSession(directory: string, name: string): Promise<SavedSession> {
  const path = pathOf(directory, name)
  const state = (await statFile(directory)) === undefined ? undefined : await statFile(path)
  if (state === undefined) throw await sessionNotFound(directory, name)
  await checkFolder(directory)
  checkFile(state, name, path)
  const what = `The session "${name}" (${path})`
  if (state.size > maxBytes) throw new ToolError(`${what} has ${state.size} bytes, more than the ${maxBytes} that are read.`)
  const value = parseSession(await readFileText(path), what)
  const { format: itsFormat, version: itsVersion } = value
  if (itsFormat !== format) throw new ToolError(`${what} is not a session of this program. Give the name of another one.`)
  if (typeof itsVersion === 'number' && itsVersion > version) {
    throw new ToolError(
      `${what} was saved by a newer version of this program: its format is ${itsVersion}, and up to ${version} can be read. Update this program.`,
    )
  }
  const session = sessionSchema.safeParse(value)
  if (session.success) return session.data
  const [issue] = session.error.issues
  const where = (issue?.path ?? []).map(String).join('.')
  throw new ToolError(
    `${what} is damaged, and nothing of it was loaded: ${quoted(where, 80)} is wrong (${quoted(issue?.message ?? '', 120)}).`,
  )
}

function parseSession(text: string, what: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch (error) {
    throw new ToolError(`${what} is damaged, and nothing of it was loaded: it is no JSON.`, { cause: error })
  }
  throw new ToolError(`${what} is not a session of this program. Give the name of another one.`)
}

async function sessionNotFound(directory: string, name: string): Promise<ToolError> {
  const names = (await listSessions(directory)).map((session) => session.name)
  const there = names.length === 0 ? 'None was saved yet.' : `There is: ${names.slice(0, 20).join(', ')}.`
  return new ToolError(`There is no session "${name}". ${there}`)
}

/** A WebSocket of a session that is over. */
function closedSocket(status: SocketStatus): SocketStatus {
  return status.state === 'closed'
    ? status
    : { ...status, state: 'closed', closedBecause: 'It was open when the session was saved.' }
}

async function statFile(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw failed(`${path} cannot be looked at`, error)
  }
}

async function makeFolder(directory: string): Promise<void> {
  if ((await statFile(directory)) === undefined) {
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw failed(`${directory} cannot be made`, error)
    }
  }
  await checkFolder(directory)
}

async function checkFolder(directory: string): Promise<void> {
  const state = await statFile(directory)
  if (state?.isDirectory() === true) return
  throw new ToolError(`${directory} is no folder of its own but a link or a file. Sessions are kept only in a real folder.`)
}

function checkFile(state: Stats | undefined, name: string, path: string): void {
  if (state === undefined || state.isFile()) return
  throw new ToolError(
    `The session "${name}" (${path}) is no file of its own but a link or a folder. It is neither read nor written.`,
  )
}

/** Reads a file that is one itself: whoever puts a link or a pipe in its place meanwhile gets nothing. */
async function readFileText(path: string): Promise<string> {
  try {
    // Windows knows neither of the last two, and takes them as nothing.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (error) {
    throw failed(`${path} cannot be read`, error)
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw failed(`${path} cannot be written`, error)
  }
}

function failed(what: string, cause: unknown): ToolError {
  const why = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return new ToolError(`${what}${why}. Check the folder and its permissions.`, { cause })
}
