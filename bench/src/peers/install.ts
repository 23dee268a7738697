import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where what we are compared with is installed. It is nobody's dependency, so an install of the project lacks it. */
export const peersFolder = new URL('../../peers/', import.meta.url)

/** Installs all of them unless this one is there, by the script of the npm that runs us, if there is one. False when it is not there after that. */
export function isInstalled(name: string, npm: string | undefined): boolean {
  const manifest = new URL(`node_modules/${name}/package.json`, peersFolder)
  if (existsSync(manifest)) return true
  console.error('Installing what we are compared with into bench/peers …')
  const [command, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  try {
    execFileSync(command, [...first, 'install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'], {
      cwd: fileURLToPath(peersFolder),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } catch {
    return false
  }
  return existsSync(manifest)
}
