// The programs of a workspace: src/<name>.ts or src/<name>/main.ts. Anything else in src/ is a part of one.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { root } from './workspaces.mjs'

const parent = process.ppid

function programsIn(workspace) {
  const src = join(root, workspace, 'src')
  if (!existsSync(src)) return []
  const names = readdirSync(src, { withFileTypes: true }).map((entry) => {
    if (entry.isDirectory()) return existsSync(join(src, entry.name, 'main.ts')) ? entry.name : undefined
    return /^([\w-]+)\.ts$/.exec(entry.name)?.[1]
  })
  return names.filter((name) => name !== undefined).sort()
}

/**
 * Runs a program as if it had been started by `node <its file> <args>`. It gets this process, so that signals, standard input and
 * output and the exit code are its own.
 */
async function runProgram(workspace, name, args) {
  await ensureInstalled()
  await ensureBuilt()
  const dist = join(root, workspace, 'dist')
  const file = [join(dist, name, 'main.js'), join(dist, `${name}.js`)].find((path) => existsSync(path))
  process.argv = [process.execPath, file, ...args]
  process.setSourceMapsEnabled(true)
  endWithParent()
  await import(pathToFileURL(file))
}

// Whoever stops `npm start` stops npm, which stops its shell, which tells nobody; the port would stay taken.
function endWithParent() {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  timer.unref()
}

/** Runs the program named first in `args`; without a known name, says which there are. */
export async function chooseProgram(workspace, command, [name, ...args]) {
  const known = programsIn(workspace)
  if (known.includes(name)) return runProgram(workspace, name, args)
  if (name !== undefined) console.error(`There is no "${name}" in ${workspace}/src.`)
  console.error(`Usage: ${command} <name>, where <name> is one of:\n${known.map((each) => `  ${each}`).join('\n')}`)
  process.exitCode = name === undefined ? 0 : 1
}
