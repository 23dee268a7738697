import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { CommandTarget } from '@unfold-mcp/client'

/** npm cache folder of a server. */
function npmCache({ env = {} }: Pick<CommandTarget, 'env'>): string {
  const [, set] = Object.entries(env).find(([name]) => name.toLowerCase() === 'npm_config_cache') ?? []
  if (set !== undefined && set !== '') return set
  const home = env.HOME ?? env.USERPROFILE ?? homedir()
  return process.platform === 'win32' ? join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'npm-cache') : join(home, '.npm')
}

/** Folder into which npx installs a set of packages. */
export function npxFolder(packages: readonly string[], target: Pick<CommandTarget, 'env'>): string {
  const names = packages.toSorted((a, b) => a.localeCompare(b, 'en')).join('\n')
  return join(npmCache(target), '_npx', createHash('sha512').update(names).digest('hex').slice(0, 16))
}

/** True if an npx installation is complete: npm writes this file last. */
export const isInstalled = (folder: string): Promise<boolean> =>
  access(join(folder, 'node_modules', '.package-lock.json')).then(
    () => true,
    () => false,
  )
