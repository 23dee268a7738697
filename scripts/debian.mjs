// Programs that tests need, from Debian's packages: installed where these are reachable and we may.
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './processes.mjs'

/** Whether a program of this name can be started. */
export function hasProgram(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}

/** Installs packages, saying what they are for; does nothing on other systems, or where it would have to ask for a password. */
export async function installPackages(packages, what) {
  if (process.platform !== 'linux' || !isDebian()) return
  const isRoot = process.getuid() === 0
  if (!isRoot && (await run('sudo', ['-n', 'true'])).code !== 0) return
  console.error(`Installing ${packages.join(', ')} for ${what}; this takes about a minute …`)
  const apt = (...args) =>
    isRoot ? run('apt-get', args, quietly) : run('sudo', ['-n', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args], quietly)
  // Old lists name packages that are gone; a mirror that is away for a moment is no reason to try nothing.
  await apt('update', '-qq', '-o', 'Acquire::http::Timeout=15', '-o', 'Acquire::Retries=1')
  await apt('install', '-y', '-qq', '--no-install-recommends', '-o', 'Acquire::http::Timeout=30', ...packages)
}

const quietly = { stdio: ['ignore', 2, 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }

function isDebian() {
  try {
    const system = readFileSync('/etc/os-release', 'utf8')
    return /^(?:ID|ID_LIKE)=.*\b(?:debian|ubuntu)\b/m.test(system) && existsSync('/usr/bin/apt-get')
  } catch {
    return false
  }
}
