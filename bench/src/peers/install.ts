import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Install folder of the peers. They are not dependencies, so `npm install` does not install them. */
export const peersFolder = new URL('../../peers/', import.meta.url)

/** Installs all peers unless this one is present, with the npm that runs this script. Returns false if it is still missing. */
export function isInstalled(name: string, npm: string | undefined): boolean {
  const manifest = new URL(`node_modules/${name}/package.json`, peersFolder)
  if (existsSync(manifest)) return true
  console.error('Installing peers into bench/peers …')
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
