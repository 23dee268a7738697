import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { extname, isAbsolute, join, relative, sep } from 'node:path'
import { readRegularFile } from '@unfold-mcp/core/files'
import { errorMessage } from '../tool/report.ts'
import { type Manifest, maxManifestBytes, parseManifest } from './manifest.ts'

/** A plugin found in the folder. */
export interface Candidate {
  /** Entry name in the folder: `text.js`, or `weather/` for a folder with a manifest. */
  readonly key: string
  /** Real path of the module. */
  readonly file: string
  readonly manifest: Manifest
  /** Changes whenever a file that the plugin may use is saved. */
  readonly stamp: string
}

/** An entry that is not loaded, and why. */
interface Refusal {
  readonly key: string
  readonly message: string
}

export interface Scan {
  readonly candidates: readonly Candidate[]
  readonly refusals: readonly Refusal[]
  /** Folders to watch. */
  readonly folders: readonly string[]
}

export interface ScanOptions {
  readonly canTypescript: boolean
  readonly maxPlugins: number
}

const extensions = new Set(['.js', '.mjs', '.ts'])
const defaultMains = ['index.js', 'index.mjs', 'index.ts']
const maxStampedFiles = 2_000
const maxDepth = 8

/**
 * Finds the plugins in a folder: modules, and folders with a `plugin.json`. Entries that start with an underscore and folders
 * without a manifest are helpers, which the modules may import.
 */
export async function scan(directory: string, { canTypescript, maxPlugins }: ScanOptions): Promise<Scan> {
  const root = await realpath(directory)
  const entries = (await readdir(root, { withFileTypes: true })).filter(isRelevant).sort((a, b) => (a.name < b.name ? -1 : 1))
  const refusals: Refusal[] = []
  const candidates: Candidate[] = []
  const folders = [root]
  const helpers: string[] = []
  for (const { name } of entries) {
    try {
      const found = await inspect(root, name, canTypescript)
      if (found.folder !== undefined) folders.push(found.folder)
      if (found.kind === 'helper') helpers.push(found.stamp)
      else if (found.candidate.manifest.disabled === true) continue
      else if (candidates.length < maxPlugins) candidates.push(found.candidate)
      else refusals.push({ key: found.candidate.key, message: `the folder has more than ${maxPlugins} plugins` })
    } catch (error) {
      // Missing: removed since it was listed.
      if (!isMissing(error)) refusals.push({ key: name, message: errorMessage(error) })
    }
  }
  // A module may import any helper, so saving a helper reloads every module.
  const shared = helpers.join('\n')
  return {
    candidates: candidates.map((plugin) =>
      plugin.key.endsWith('/') ? plugin : { ...plugin, stamp: `${plugin.stamp}\n${shared}` },
    ),
    refusals,
    folders,
  }
}

type Inspected = { readonly folder?: string } & (
  | { readonly kind: 'helper'; readonly stamp: string }
  | { readonly kind: 'plugin'; readonly candidate: Candidate }
)

async function inspect(root: string, name: string, canTypescript: boolean): Promise<Inspected> {
  const real = await resolveInside(root, join(root, name))
  const stats = await stat(real)
  const isHelper = name.startsWith('_')
  if (stats.isDirectory()) {
    const stamp = await folderStamp(real)
    const text = isHelper ? undefined : await readManifest(real, root)
    if (text === undefined) return { kind: 'helper', stamp, folder: real }
    const manifest = parseManifest(text)
    const file = await findMain(real, manifest)
    checkExtension(file, canTypescript)
    return { kind: 'plugin', folder: real, candidate: { key: `${name}/`, file, manifest, stamp } }
  }
  const stamp = `${name} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`
  if (isHelper || !stats.isFile() || !extensions.has(extname(name))) return { kind: 'helper', stamp }
  checkExtension(real, canTypescript)
  return { kind: 'plugin', candidate: { key: name, file: real, manifest: {}, stamp } }
}

/** Returns the real path; throws if it is outside `root`, so that a link in the folder cannot run other code. */
async function resolveInside(root: string, path: string): Promise<string> {
  const real = await realpath(path)
  const fromRoot = relative(root, real)
  if (fromRoot === '' || fromRoot === '..' || fromRoot.startsWith(`..${sep}`) || isAbsolute(fromRoot))
    throw new Error('it resolves to a path outside its folder. Copy it into the folder')
  return real
}

async function readManifest(folder: string, root: string): Promise<string | undefined> {
  const path = join(folder, 'plugin.json')
  const stats = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (stats === undefined) return undefined
  if (!stats.isFile() || stats.size > maxManifestBytes)
    throw new Error(`plugin.json is not a file, or exceeds ${maxManifestBytes} bytes`)
  return (await readRegularFile(await resolveInside(root, path))).toString('utf8')
}

async function findMain(folder: string, { main }: Manifest): Promise<string> {
  const names = main === undefined ? defaultMains : [main]
  for (const name of names) {
    try {
      // join() would turn an absolute path into one inside the folder.
      const real = await resolveInside(folder, isAbsolute(name) ? name : join(folder, name))
      if ((await stat(real)).isFile()) return real
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  throw new Error(`it has no ${names.join(', ')}. Set "main" in plugin.json to the path of the module`)
}

function checkExtension(file: string, canTypescript: boolean): void {
  const extension = extname(file)
  if (!extensions.has(extension)) throw new Error(`its module must have one of the extensions ${[...extensions].join(', ')}`)
  if (extension === '.ts' && !canTypescript)
    throw new Error(`Node ${process.versions.node} cannot run TypeScript. Use Node 22.6 or newer, or compile it to .js`)
}

async function folderStamp(folder: string): Promise<string> {
  const stamps: string[] = []
  const walk = async (path: string, level: number): Promise<void> => {
    if (level > maxDepth) return
    for (const entry of (await readdir(path, { withFileTypes: true })).filter(isRelevant)) {
      if (stamps.length >= maxStampedFiles) return
      const file = join(path, entry.name)
      if (entry.isDirectory()) await walk(file, level + 1)
      else if (entry.isFile()) {
        const { mtimeMs, ctimeMs, size, ino } = await stat(file)
        stamps.push(`${file} ${mtimeMs} ${ctimeMs} ${size} ${ino}`)
      }
    }
  }
  await walk(folder, 1)
  return stamps.sort().join('\n')
}

// Editors write drafts and backups next to the file.
const isRelevant = ({ name }: Dirent): boolean =>
  !name.startsWith('.') && !/~$|\.(?:tmp|swp|bak|orig|d\.ts|map)$|\.test\.\w+$/u.test(name) && name !== 'node_modules'

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
