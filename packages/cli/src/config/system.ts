import { posix, win32 } from 'node:path'
import { fileExists } from '../base/file-exists.ts'

/** Everything that determines which configuration files are read and how variables expand. */
export interface System {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  /** Root of the project that contains `cwd`; default: `cwd`. */
  readonly root?: string
}

/** Path functions of a platform, independent of the current one. */
export function pathModule(platform: NodeJS.Platform): typeof posix {
  return platform === 'win32' ? win32 : posix
}

/** Case-insensitive on Windows. */
export function envVariable({ platform, env }: System, name: string): string | undefined {
  if (Object.hasOwn(env, name)) return env[name]
  if (platform !== 'win32') return undefined
  const found = Object.keys(env).find((each) => each.toLowerCase() === name.toLowerCase())
  return found === undefined ? undefined : env[found]
}

/** The folder and its ancestors, nearest first. */
export function foldersAbove(folder: string, platform: NodeJS.Platform): readonly string[] {
  const paths = pathModule(platform)
  const folders = [folder]
  for (let at = folder; paths.dirname(at) !== at; at = paths.dirname(at)) folders.push(paths.dirname(at))
  return folders
}

/** Nearest ancestor with a `.git`, below the home folder; otherwise `cwd`. */
export async function projectRoot({ platform, home, cwd }: Omit<System, 'root'>): Promise<string> {
  const above = foldersAbove(cwd, platform)
  const end = above.indexOf(home)
  for (const folder of end === -1 ? above : above.slice(0, end))
    if (await fileExists(pathModule(platform).join(folder, '.git'))) return folder
  return cwd
}
