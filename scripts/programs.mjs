// Runs the programs of a workspace: src/<name>.ts or src/<name>/main.ts.
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
 * Runs a program in this process as if started by `node <file> <args>`, so that it handles signals, stdio and the exit code.
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

// Stopping `npm start` stops npm and its shell but not this process, which would keep the port.
function endWithParent() {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  timer.unref()
}

/** Runs the program named by the first argument. Without a known name, prints the available ones. */
export async function chooseProgram(workspace, command, [name, ...args]) {
  const known = programsIn(workspace)
  if (known.includes(name)) return runProgram(workspace, name, args)
  if (name !== undefined) console.error(`Unknown name "${name}".`)
  console.error(`Usage: ${command} <name>\n\nNames:\n${known.map((each) => `  ${each}`).join('\n')}`)
  process.exitCode = name === undefined ? 0 : 1
}
