// Runs child processes that end with this process.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './workspaces.mjs'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Runs a command in the root folder. Resolves with its exit code and piped output. */
export function run(command, args, { stdio = ['ignore', 'pipe', 'pipe'], env = process.env, shell = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio, env, shell })
    const chunks = []
    child.stdout?.on('data', (chunk) => chunks.push(chunk))
    child.stderr?.on('data', (chunk) => chunks.push(chunk))
    // A client that timed out may restart this script at once; an orphaned child would then compete with the new one.
    const stop = (signal) => {
      child.kill(signal)
      process.exit(1)
    }
    for (const signal of signals) process.on(signal, stop)
    child.once('error', reject)
    child.once('close', (code) => {
      for (const signal of signals) process.off(signal, stop)
      resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() })
    })
  })
}

/** Runs npm, which is a batch file on Windows. */
export function npm(args, options) {
  return run('npm', args, { ...options, shell: process.platform === 'win32' })
}

/** Runs the script of an installed package with this Node: `tool('typescript/bin/tsc', ['-b'])`. */
export function tool(script, args, options) {
  return run(process.execPath, [join(root, 'node_modules', script), ...args], options)
}
