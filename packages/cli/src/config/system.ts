import { access } from 'node:fs/promises'
import { posix, win32 } from 'node:path'

/** Where a command runs: all that decides which files are looked at, and what the variables in them stand for. */
export interface System {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  /** The top folder of the project that `cwd` is in; without one, `cwd` stands for itself. */
  readonly root?: string
}

/** The rules for paths on this platform, whichever one this process runs on. */
export function pathModule(platform: NodeJS.Platform): typeof posix {
  return platform === 'win32' ? win32 : posix
}

/** A variable of the environment; Windows does not tell upper from lower case. */
export function envVariable({ platform, env }: System, name: string): string | undefined {
  if (Object.hasOwn(env, name)) return env[name]
  if (platform !== 'win32') return undefined
  const found = Object.keys(env).find((each) => each.toLowerCase() === name.toLowerCase())
  return found === undefined ? undefined : env[found]
}

/** The folder and those above it, nearest first. */
export function foldersAbove(folder: string, platform: NodeJS.Platform): readonly string[] {
  const paths = pathModule(platform)
  const folders = [folder]
  for (let at = folder; paths.dirname(at) !== at; at = paths.dirname(at)) folders.push(paths.dirname(at))
  return folders
}

/** The nearest folder above that holds a repository, looking no further than the home folder; `cwd` when there is none. */
export async function projectRoot({ platform, home, cwd }: Omit<System, 'root'>): Promise<string> {
  const above = foldersAbove(cwd, platform)
  const end = above.indexOf(home)
  for (const folder of end === -1 ? above : above.slice(0, end))
    if (await exists(pathModule(platform).join(folder, '.git'))) return folder
  return cwd
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
