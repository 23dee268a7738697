import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { extname, isAbsolute, join, relative, sep } from 'node:path'
import { errorMessage } from '../tool/report.ts'
import { type Manifest, manifestOf, mostManifestBytes } from './manifest.ts'

/** A plugin that was found in the folder. */
export interface Candidate {
  /** Its name in the folder: `text.js`, or `weather/` for a folder with a manifest. */
  readonly key: string
  /** The module, by its real path. */
  readonly file: string
  readonly manifest: Manifest
  /** Another text whenever something that the plugin is made of has been saved. */
  readonly stamp: string
}

/** Something in the folder that is not loaded, and why. */
interface Refusal {
  readonly key: string
  readonly message: string
}

export interface Scan {
  readonly candidates: readonly Candidate[]
  readonly refusals: readonly Refusal[]
  /** The folders to watch. */
  readonly folders: readonly string[]
}

export interface ScanOptions {
  readonly canTypescript: boolean
  readonly most: number
}

const extensions = new Set(['.js', '.mjs', '.ts'])
const mains = ['index.js', 'index.mjs', 'index.ts']
const mostFiles = 2_000
const mostLevels = 8

/**
 * Looks at a folder of plugins: modules, and folders with a `plugin.json`. What begins with a dot or an underscore is no plugin,
 * nor is a folder without manifest; those may hold what the modules share.
 */
export async function scan(directory: string, { canTypescript, most }: ScanOptions): Promise<Scan> {
  const root = await realpath(directory)
  const listed = (await readdir(root, { withFileTypes: true })).filter(isOfInterest).sort((a, b) => (a.name < b.name ? -1 : 1))
  const refusals: Refusal[] = []
  const candidates: Candidate[] = []
  const folders = [root]
  const helpers: string[] = []
  for (const { name } of listed) {
    const path = join(root, name)
    try {
      const found = await looked(path, name, { root, canTypescript })
      if (found.folder !== undefined) folders.push(found.folder)
      if (found.kind === 'helper') helpers.push(found.stamp)
      else if (found.candidate.manifest.disabled === true) continue
      else if (candidates.length < most) candidates.push(found.candidate)
      else refusals.push({ key: found.candidate.key, message: `there are more than ${most} plugins` })
    } catch (error) {
      // Saved and removed again: there is nothing to say of it.
      if (!isGone(error)) refusals.push({ key: name, message: errorMessage(error) })
    }
  }
  // A module may use any of these, so each is loaded again when one of them was saved.
  const shared = helpers.join('\n')
  return {
    candidates: candidates.map((each) => (each.key.endsWith('/') ? each : { ...each, stamp: `${each.stamp}\n${shared}` })),
    refusals,
    folders,
  }
}

type Looked = { readonly folder?: string } & (
  | { readonly kind: 'helper'; readonly stamp: string }
  | { readonly kind: 'plugin'; readonly candidate: Candidate }
)

async function looked(
  path: string,
  name: string,
  { root, canTypescript }: { readonly root: string; readonly canTypescript: boolean },
): Promise<Looked> {
  const real = await insideOf(root, path)
  const stats = await stat(real)
  const isHelper = name.startsWith('_')
  if (stats.isDirectory()) {
    const stamp = await stampOf(real)
    const text = isHelper ? undefined : await manifestText(real, root)
    if (text === undefined) return { kind: 'helper', stamp, folder: real }
    const manifest = manifestOf(text)
    const file = await mainOf(real, manifest)
    checkExtension(file, canTypescript)
    return { kind: 'plugin', folder: real, candidate: { key: `${name}/`, file, manifest, stamp } }
  }
  const stamp = `${name} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`
  if (isHelper || !stats.isFile() || !extensions.has(extname(name))) return { kind: 'helper', stamp }
  checkExtension(real, canTypescript)
  return { kind: 'plugin', candidate: { key: name, file: real, manifest: {}, stamp } }
}

/** The real path; throws when it lies elsewhere, because whoever wrote the folder must not be able to run what is outside. */
async function insideOf(root: string, path: string): Promise<string> {
  const real = await realpath(path)
  const way = relative(root, real)
  if (way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw new Error('it leads out of its folder, and is not loaded. Copy it into the folder')
  return real
}

async function manifestText(folder: string, root: string): Promise<string | undefined> {
  const path = join(folder, 'plugin.json')
  const stats = await stat(path).catch((error: unknown) => {
    if (isGone(error)) return undefined
    throw error
  })
  if (stats === undefined) return undefined
  if (!stats.isFile() || stats.size > mostManifestBytes) throw new Error('plugin.json is no file, or too large to be one')
  return readFile(await insideOf(root, path), 'utf8')
}

async function mainOf(folder: string, { main }: Manifest): Promise<string> {
  const wanted = main === undefined ? mains : [main]
  for (const name of wanted) {
    try {
      // Joined, an absolute path would be taken for one inside the folder.
      const real = await insideOf(folder, isAbsolute(name) ? name : join(folder, name))
      if ((await stat(real)).isFile()) return real
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
  throw new Error(`there is no ${wanted.join(', ')} in it. Name the module as "main" in plugin.json`)
}

function checkExtension(file: string, canTypescript: boolean): void {
  const extension = extname(file)
  if (!extensions.has(extension)) throw new Error(`its module must end in ${[...extensions].join(', ')}`)
  if (extension === '.ts' && !canTypescript)
    throw new Error(`Node ${process.versions.node} cannot run TypeScript. Use Node 22.6 or newer, or compile it to .js`)
}

/** Names, times and sizes of all files in a folder, as one text. */
async function stampOf(folder: string): Promise<string> {
  const stamps: string[] = []
  const walk = async (path: string, level: number): Promise<void> => {
    if (level > mostLevels) return
    for (const entry of (await readdir(path, { withFileTypes: true })).filter(isOfInterest)) {
      if (stamps.length >= mostFiles) return
      const at = join(path, entry.name)
      if (entry.isDirectory()) await walk(at, level + 1)
      else if (entry.isFile()) {
        const { mtimeMs, ctimeMs, size, ino } = await stat(at)
        stamps.push(`${at} ${mtimeMs} ${ctimeMs} ${size} ${ino}`)
      }
    }
  }
  await walk(folder, 1)
  return stamps.sort().join('\n')
}

// Editors keep drafts beside what they save.
const isOfInterest = ({ name }: Dirent): boolean =>
  !name.startsWith('.') && !/~$|\.(?:tmp|swp|bak|orig|d\.ts|map)$|\.test\.\w+$/u.test(name) && name !== 'node_modules'

const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
