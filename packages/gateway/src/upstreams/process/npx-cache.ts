import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { CommandTarget } from '@unfold-mcp/client'

/** Where npm keeps its cache for a server: as its environment says, else where npm does by default. */
function npmCache({ env = {} }: Pick<CommandTarget, 'env'>): string {
  const [, set] = Object.entries(env).find(([name]) => name.toLowerCase() === 'npm_config_cache') ?? []
  if (set !== undefined && set !== '') return set
  const home = env.HOME ?? env.USERPROFILE ?? homedir()
  return process.platform === 'win32' ? join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'npm-cache') : join(home, '.npm')
}

/** The folder that npx installs a set of packages into. */
export function npxFolder(packages: readonly string[], target: Pick<CommandTarget, 'env'>): string {
  const names = packages.toSorted((a, b) => a.localeCompare(b, 'en')).join('\n')
  return join(npmCache(target), '_npx', createHash('sha512').update(names).digest('hex').slice(0, 16))
}

/** Whether an installation in a folder of npx came to its end: the last thing that npm writes is there. */
export const isInstalled = (folder: string): Promise<boolean> =>
  access(join(folder, 'node_modules', '.package-lock.json')).then(
    () => true,
    () => false,
  )
