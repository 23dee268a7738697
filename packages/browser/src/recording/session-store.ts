import type { Stats } from 'node:fs'
import { lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openRegularFile, replaceFile } from '@unfold-mcp/core/files'
import { ToolError } from '@unfold-mcp/server'
import { type Kind, kinds, type PerformanceSnapshot, type Records, type SocketStatus } from '../records/records.ts'
import { quoted } from '../reply/reply.ts'
import type { Recording } from './recording.ts'
import { format, recordSchemas, type SavedSession, sessionSchema, version } from './session-format.ts'

/** Baselines to save and restore. */
export interface SavedBaselines {
  entries(): readonly PerformanceSnapshot[]
  restore(entries: readonly PerformanceSnapshot[]): void
}

export interface SessionLocation {
  /** Folder of the sessions, one file each. */
  readonly directory: string
  /** 1 to 64 lower-case letters, digits, dots, underscores and hyphens, starting with a letter or digit. */
  readonly name: string
}

/** Maximum size of a session file. */
export const maxBytes = 64 * 1024 * 1024

/** Writes the recording to a file atomically, replacing a session of the same name. */
export async function saveSession(
  recording: Recording,
  baselines: Pick<SavedBaselines, 'entries'>,
  { directory, name, now = Date.now }: SessionLocation & { readonly now?: () => number },
): Promise<{ readonly path: string; readonly bytes: number; readonly leftOut: number }> {
  const path = pathOf(directory, name)
  const { text, leftOut } = serializeSession(recording, baselines.entries(), new Date(now()).toISOString())
  await makeFolder(directory)
  checkFile(await statFile(path), name, path)
  await replaceFile(path, text).catch((error: unknown) => {
    throw failed(`${path} cannot be written`, error)
  })
  return { path, bytes: Buffer.byteLength(text), leftOut }
}

/**
 * Replaces the recording with a saved session, redacted by the current rules. Throws without any change if the session is missing or
 * invalid.
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

/** Lists the sessions in a folder, newest first. */
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
  // A single invalid record would make the file unusable.
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
  // A character takes at least one byte in a file and two in memory, so that far too large data is not serialized.
  const text = bytes > 4 * maxBytes ? undefined : JSON.stringify(session)
  if (text !== undefined && Buffer.byteLength(text) <= maxBytes) return { text, leftOut }
  throw new ToolError(
    `The recording exceeds the maximum session size (${maxBytes / 1024 / 1024} MB). Clear a part of it with configure clear, or ` +
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
  if (itsFormat !== format) throw new ToolError(`${what} is not a session of this program. Use another name.`)
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
    `${what} is damaged: ${quoted(where, 80)} is invalid (${quoted(issue?.message ?? '', 120)}). Nothing was loaded.`,
  )
}

function parseSession(text: string, what: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch (error) {
    throw new ToolError(`${what} is damaged: invalid JSON. Nothing was loaded.`, { cause: error })
  }
  throw new ToolError(`${what} is not a session of this program. Use another name.`)
}

async function sessionNotFound(directory: string, name: string): Promise<ToolError> {
  const names = (await listSessions(directory)).map((session) => session.name)
  const there = names.length === 0 ? 'No session is saved.' : `Saved sessions: ${names.slice(0, 20).join(', ')}.`
  return new ToolError(`Unknown session "${name}". ${there}`)
}

/** Closes a WebSocket of a saved session. */
function closedSocket(status: SocketStatus): SocketStatus {
  return status.state === 'closed' ? status : { ...status, state: 'closed', closedBecause: 'Open when the session was saved.' }
}

async function statFile(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw failed(`${path} cannot be accessed`, error)
  }
}

async function makeFolder(directory: string): Promise<void> {
  if ((await statFile(directory)) === undefined) {
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw failed(`${directory} cannot be created`, error)
    }
  }
  await checkFolder(directory)
}

async function checkFolder(directory: string): Promise<void> {
  const state = await statFile(directory)
  if (state?.isDirectory() === true) return
  throw new ToolError(`${directory} is a link or a file, not a folder. Sessions are stored only in a real folder.`)
}

function checkFile(state: Stats | undefined, name: string, path: string): void {
  if (state === undefined || state.isFile()) return
  throw new ToolError(
    `The session "${name}" (${path}) is a link or a folder, not a regular file. It is neither read nor written.`,
  )
}

/** Reads a regular file; a link or pipe put in its place meanwhile is rejected. */
async function readFileText(path: string): Promise<string> {
  try {
    const file = await openRegularFile(path, { isLinkRejected: true })
    try {
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (error) {
    throw failed(`${path} cannot be read`, error)
  }
}

function failed(what: string, cause: unknown): ToolError {
  const why = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return new ToolError(`${what}${why}. Check the folder and its permissions.`, { cause })
}
