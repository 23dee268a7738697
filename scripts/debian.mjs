// Installs Debian packages, if that needs no password.
import { existsSync, readFileSync } from 'node:fs'
import { run } from './processes.mjs'

/** Returns whether apt-get can run without a password. */
export async function canInstallPackages() {
  if (process.platform !== 'linux' || !isDebian()) return false
  return isRoot() || (await run('sudo', ['-n', 'true']).catch(() => ({ code: 1 }))).code === 0
}

/** Installs Debian packages. Never throws: the caller checks for the programs afterwards. */
export async function installPackages(packages) {
  // Outdated lists name package versions that are gone; an unreachable mirror still leaves cached packages to try.
  await apt('update', '-qq', '-o', 'Acquire::http::Timeout=15', '-o', 'Acquire::Retries=1').catch(() => undefined)
  await apt('install', '-y', '-qq', '--no-install-recommends', '-o', 'Acquire::http::Timeout=30', ...packages).catch(
    () => undefined,
  )
}

function apt(...args) {
  if (isRoot()) return run('apt-get', args, quietly)
  return run('sudo', ['-n', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args], quietly)
}

const quietly = { stdio: ['ignore', 2, 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }

function isRoot() {
  return process.getuid() === 0
}

function isDebian() {
  try {
    const system = readFileSync('/etc/os-release', 'utf8')
    return /^(?:ID|ID_LIKE)=.*\b(?:debian|ubuntu)\b/m.test(system) && existsSync('/usr/bin/apt-get')
  } catch {
    return false
  }
}
