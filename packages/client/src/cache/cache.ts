import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tool } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'

/** Whose list it is. Entries of different servers, credentials or views never meet. */
export interface CacheKey {
  /** What people call the server. */
  readonly name: string
  /** What the server is reached by, as a digest. */
  readonly server: string
  readonly credential: string
  readonly view: string
}

/** A server's tools as they were when they were last listed. */
export interface CachedTools {
  readonly tools: readonly Tool[]
  /** The identity of exactly these tools, as the server named it; without it they are good for a time only. */
  readonly identity?: string
  /** In milliseconds since 1970. */
  readonly savedAt: number
  /** Until when they are good without asking, in milliseconds since 1970. */
  readonly freshUntil?: number
  /** What the server says it is. */
  readonly server: { readonly name: string; readonly version: string; readonly title?: string }
  readonly protocolVersion: string
}

/** Where lists are kept between connections. Drivers store and return; whether a list is still good is decided by the caller. */
export interface ToolCache {
  get(key: CacheKey): Promise<CachedTools | undefined>
  set(key: CacheKey, entry: CachedTools): Promise<void>
  delete(key: CacheKey): Promise<void>
}

/** What is known of a server without connecting to it. */
export interface CachedServer extends CachedTools {
  readonly name: string
  readonly view: string
}

export interface FileCacheOptions {
  /** Told of files that are left alone, and why. */
  readonly onWarning?: (warning: string) => void
}

/** Keeps lists as long as the process lives, and no more than the newest `limit`. */
export function memoryCache(limit = 100): ToolCache {
  const entries = new Map<string, CachedTools>()
  return {
    async get(key) {
      return entries.get(digestOf(key))
    },
    async set(key, entry) {
      const digest = digestOf(key)
      entries.delete(digest)
      entries.set(digest, entry)
      for (const oldest of entries.keys()) {
        if (entries.size <= limit) return
        entries.delete(oldest)
      }
    },
    async delete(key) {
      entries.delete(digestOf(key))
    },
  }
}

const format = 'unfold-tool-cache'
const version = 1
const maxFileBytes = 64 * 2 ** 20
const maxFiles = 500
const draftLifeMs = 3_600_000

/**
 * Keeps lists in a folder, one JSON file for each server, credential and view. Files are replaced whole, so any number of
 * processes may share the folder. A file that is damaged, of another kind or of a newer version counts as absent.
 */
export function fileCache(directory: string, { onWarning = () => undefined }: FileCacheOptions = {}): ToolCache {
  const pathOf = (key: CacheKey): string => join(directory, fileOf(key))
  let isPruned = false
  return {
    async get(key) {
      const found = await readFrom(pathOf(key), onWarning)
      if (found === undefined) return undefined
      if (found.key === digestOf(key)) return found.entry
      onWarning(`${pathOf(key)} holds the tools of another server, and is left alone.`)
      return undefined
    },
    async set(key, entry) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const path = pathOf(key)
      const draft = `${path}.${randomUUID()}.tmp`
      try {
        await writeFile(draft, textOf(key, entry), { mode: 0o600, flag: 'wx' })
        await rename(draft, path)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
      if (isPruned) return
      isPruned = true
      await prune(directory)
    },
    async delete(key) {
      await rm(pathOf(key), { force: true })
    },
  }
}

/** What the folder of a file cache knows: of the server called `name`, or of all. Reads files and connects to nothing. */
export async function readCached(
  directory: string,
  name?: string,
  { onWarning = () => undefined }: FileCacheOptions = {},
): Promise<readonly CachedServer[]> {
  const beginning = name === undefined ? '' : `${slugOf(name)}.`
  const files = (await filesIn(directory))
    .filter((file) => file.startsWith(beginning) && file.endsWith('.json'))
    .slice(0, maxFiles)
  const found: CachedServer[] = []
  for (const file of files.sort()) {
    const read = await readFrom(join(directory, file), onWarning)
    if (read === undefined || (name !== undefined && read.name !== name)) continue
    found.push({ ...read.entry, name: read.name, view: read.view })
  }
  return found
}

function digestOf({ name, server, credential, view }: CacheKey): string {
  return createHash('sha256')
    .update(JSON.stringify([name, server, credential, view]))
    .digest('hex')
}

// The name comes first, so that what is known of one server is found by looking at file names alone.
const fileOf = (key: CacheKey): string => `${slugOf(key.name)}.${digestOf(key).slice(0, 32)}.json`

const slugOf = (name: string): string => name.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 60) || '_'

const timeOf = (ms: number): string => new Date(ms).toISOString()

/**
 * A cache file, version 1: one JSON object, named `<name>.<first 32 hex digits of key>.json`.
 *
 * - `format` is `unfold-tool-cache` and `version` is 1; a reader leaves everything else alone
 * - `name` and `view`: what the server is called, and what was asked of it
 * - `key`: the SHA-256 of name, server, credential and view, so that none of the latter stands in the file
 * - `savedAt`, and `freshUntil` where the server said how long a list is good: times as in ISO 8601
 * - `server` (`name`, `version`, `title`) and `protocolVersion`: who answered, in which revision
 * - `identity`: that of these tools as the server named it, where it did
 * - `tools`: as `tools/list` gave them, all pages in one
 */
function textOf(key: CacheKey, { tools, savedAt, freshUntil, ...rest }: CachedTools): string {
  return JSON.stringify({
    format,
    version,
    name: key.name,
    view: key.view,
    key: digestOf(key),
    savedAt: timeOf(savedAt),
    ...(freshUntil !== undefined && { freshUntil: timeOf(freshUntil) }),
    ...rest,
    tools,
  })
}

interface CacheFile {
  readonly key: string
  readonly name: string
  readonly view: string
  readonly entry: CachedTools
}

async function readFrom(path: string, onWarning: (warning: string) => void): Promise<CacheFile | undefined> {
  try {
    const { size } = await stat(path)
    if (size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`)
    return parsed(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (isMissing(error)) return undefined
    onWarning(`${path} is left alone: ${error instanceof Error ? error.message : String(error)}.`)
    return undefined
  }
}

function parsed(value: unknown): CacheFile {
  if (!isRecord(value) || value.format !== format) throw new Error('it is no cache of tools')
  if (value.version !== version) throw new Error(`it is of version ${JSON.stringify(value.version)}, and this reads ${version}`)
  const { key, name, view, identity, protocolVersion, server, tools } = value
  const isWhole =
    typeof key === 'string' &&
    typeof name === 'string' &&
    typeof view === 'string' &&
    (identity === undefined || typeof identity === 'string') &&
    typeof protocolVersion === 'string' &&
    isRecord(server) &&
    typeof server.name === 'string' &&
    typeof server.version === 'string' &&
    Array.isArray(tools) &&
    tools.every(isTool)
  if (!isWhole) throw new Error('it lacks something that a cache of tools has')
  const { title } = server
  const freshUntil = value.freshUntil === undefined ? undefined : millisecondsOf(value.freshUntil)
  return {
    key,
    name,
    view,
    entry: {
      tools,
      protocolVersion,
      savedAt: millisecondsOf(value.savedAt),
      server: { name: server.name as string, version: server.version as string, ...(typeof title === 'string' && { title }) },
      ...(identity !== undefined && { identity }),
      ...(freshUntil !== undefined && { freshUntil }),
    },
  }
}

function millisecondsOf(time: unknown): number {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN
  if (Number.isNaN(ms)) throw new Error('it holds a time that is none')
  return ms
}

/** Keeps the folder small: oldest first, and drafts that a process left behind when it was killed. */
async function prune(directory: string): Promise<void> {
  const now = Date.now()
  const dated: { readonly path: string; readonly at: number }[] = []
  for (const file of await filesIn(directory)) {
    const path = join(directory, file)
    const at = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => now,
    )
    if (file.endsWith('.json')) dated.push({ path, at })
    else if (file.endsWith('.tmp') && now - at > draftLifeMs) await rm(path, { force: true })
  }
  const surplus = dated.sort((a, b) => b.at - a.at).slice(maxFiles)
  for (const { path } of surplus) await rm(path, { force: true })
}

async function filesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

const isTool = (value: unknown): value is Tool => isRecord(value) && typeof value.name === 'string' && isRecord(value.inputSchema)
