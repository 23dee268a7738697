import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord, isTool, type Tool } from '@unfold-mcp/core'
import { openRegularFile, replaceFile } from '@unfold-mcp/core/files'

/** Key of a tool list. Entries of different servers, credentials and views are separate. */
export interface CacheKey {
  /** Name of the server. */
  readonly name: string
  /** Digest of how the server is reached. */
  readonly server: string
  readonly credential: string
  readonly view: string
}

/** Tools of a server when they were last listed. */
export interface CachedTools {
  readonly tools: readonly Tool[]
  /** Identity of these tools from the server; without it, only `freshUntil` makes them valid. */
  readonly identity?: string
  /** Milliseconds since 1970. */
  readonly savedAt: number
  /** Valid without a request until then, in milliseconds since 1970. */
  readonly freshUntil?: number
  /** Implementation info of the server. */
  readonly server: { readonly name: string; readonly version: string; readonly title?: string }
  readonly protocolVersion: string
}

/** Store for tool lists. Drivers store and return; the caller decides whether a list is still valid. */
export interface ToolCache {
  get(key: CacheKey): Promise<CachedTools | undefined>
  set(key: CacheKey, entry: CachedTools): Promise<void>
  delete(key: CacheKey): Promise<void>
}

/** Cached data about a server. */
export interface CachedServer extends CachedTools {
  readonly name: string
  readonly view: string
}

export interface FileCacheOptions {
  /** Receives the reason when a file is ignored. */
  readonly onWarning?: (warning: string) => void
}

/** Keeps the newest `limit` lists in memory. */
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
const tempFileMaxAgeMs = 3_600_000

/**
 * Keeps lists in a folder, one JSON file per server, credential and view. Files are replaced atomically, so processes may share
 * the folder. A damaged file, or one with another format or a newer version, is ignored.
 */
export function fileCache(directory: string, { onWarning = () => undefined }: FileCacheOptions = {}): ToolCache {
  const pathOf = (key: CacheKey): string => join(directory, fileOf(key))
  let isPruned = false
  return {
    async get(key) {
      const cached = await readCacheFile(pathOf(key), onWarning)
      if (cached === undefined) return undefined
      if (cached.key === digestOf(key)) return cached.entry
      onWarning(`${pathOf(key)} holds the tools of another server; ignored.`)
      return undefined
    },
    async set(key, entry) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      await replaceFile(pathOf(key), serialize(key, entry), { isDurable: false })
      if (isPruned) return
      isPruned = true
      await prune(directory)
    },
    async delete(key) {
      await rm(pathOf(key), { force: true })
    },
  }
}

/** Reads the cached data of the server called `name`, or of all servers, without connecting to any. */
export async function readCached(
  directory: string,
  name?: string,
  { onWarning = () => undefined }: FileCacheOptions = {},
): Promise<readonly CachedServer[]> {
  const prefix = name === undefined ? '' : `${slugOf(name)}.`
  const files = (await filesIn(directory)).filter((file) => file.startsWith(prefix) && file.endsWith('.json')).slice(0, maxFiles)
  const servers: CachedServer[] = []
  for (const file of files.sort()) {
    const cached = await readCacheFile(join(directory, file), onWarning)
    if (cached === undefined || (name !== undefined && cached.name !== name)) continue
    servers.push({ ...cached.entry, name: cached.name, view: cached.view })
  }
  return servers
}

function digestOf({ name, server, credential, view }: CacheKey): string {
  return createHash('sha256')
    .update(JSON.stringify([name, server, credential, view]))
    .digest('hex')
}

// Begins with the name, so that the files of one server are found without reading them.
const fileOf = (key: CacheKey): string => `${slugOf(key.name)}.${digestOf(key).slice(0, 32)}.json`

const slugOf = (name: string): string => name.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 60) || '_'

const isoTime = (ms: number): string => new Date(ms).toISOString()

/**
 * A cache file, version 1: one JSON object, named `<name>.<first 32 hex digits of key>.json`.
 *
 * - `format` is `unfold-tool-cache` and `version` is 1; readers ignore everything else
 * - `name` and `view` of the server
 * - `key`: SHA-256 of name, server, credential and view, so that the file contains neither server nor credential
 * - `savedAt`, and `freshUntil` if the server sent a time to live: ISO 8601
 * - `server` (`name`, `version`, `title`) and `protocolVersion`
 * - `identity` of these tools from the server, if it sent one
 * - `tools`: all pages of `tools/list`
 */
function serialize(key: CacheKey, { tools, savedAt, freshUntil, ...rest }: CachedTools): string {
  return JSON.stringify({
    format,
    version,
    name: key.name,
    view: key.view,
    key: digestOf(key),
    savedAt: isoTime(savedAt),
    ...(freshUntil !== undefined && { freshUntil: isoTime(freshUntil) }),
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

async function readCacheFile(path: string, onWarning: (warning: string) => void): Promise<CacheFile | undefined> {
  try {
    await using handle = await openRegularFile(path)
    if ((await handle.stat()).size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`)
    return parseCacheFile(JSON.parse(await handle.readFile('utf8')))
  } catch (error) {
    if (isMissing(error)) return undefined
    onWarning(`${path} is ignored: ${error instanceof Error ? error.message : String(error)}.`)
    return undefined
  }
}

function parseCacheFile(value: unknown): CacheFile {
  if (!isRecord(value) || value.format !== format) throw new Error('not a tool cache')
  if (value.version !== version) throw new Error(`version ${JSON.stringify(value.version)} is not supported, only ${version}`)
  const { key, name, view, identity, protocolVersion, server, tools } = value
  const isValid =
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
  if (!isValid) throw new Error('a required field is missing or has the wrong type')
  const { title } = server
  const freshUntil = value.freshUntil === undefined ? undefined : parseTime(value.freshUntil)
  return {
    key,
    name,
    view,
    entry: {
      tools,
      protocolVersion,
      savedAt: parseTime(value.savedAt),
      server: { name: server.name as string, version: server.version as string, ...(typeof title === 'string' && { title }) },
      ...(identity !== undefined && { identity }),
      ...(freshUntil !== undefined && { freshUntil }),
    },
  }
}

function parseTime(time: unknown): number {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN
  if (Number.isNaN(ms)) throw new Error('invalid time')
  return ms
}

/** Deletes the oldest files above the limit, and temporary files left by killed processes. */
async function prune(directory: string): Promise<void> {
  const now = Date.now()
  const entries: { readonly path: string; readonly modifiedAt: number }[] = []
  for (const file of await filesIn(directory)) {
    const path = join(directory, file)
    const modifiedAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => now,
    )
    if (file.endsWith('.json')) entries.push({ path, modifiedAt })
    else if (file.endsWith('.tmp') && now - modifiedAt > tempFileMaxAgeMs) await rm(path, { force: true })
  }
  const surplus = entries.sort((a, b) => b.modifiedAt - a.modifiedAt).slice(maxFiles)
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
