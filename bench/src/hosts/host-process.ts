import { spawn } from 'node:child_process'

/** Exit status and output of a host. */
export interface Ended {
  readonly code: number | null
  readonly isLate: boolean
  readonly output: string
  readonly errors: string
}

/** Runs a program until it exits or `deadlineMs` has passed. */
export type Launch = (
  command: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string; readonly deadlineMs: number },
) => Promise<Ended>

/** Runs a host without a terminal, then kills its process group. */
export const runProcess: Launch = ([program = '', ...args], { env, cwd, deadlineMs }) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const output: Buffer[] = []
    const errors: Buffer[] = []
    let isLate = false
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    const killGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // The process group no longer exists.
      }
    }
    const timer = setTimeout(() => {
      isLate = true
      killGroup()
    }, deadlineMs)
    process.once('exit', killGroup)
    child.once('error', reject)
    // Not 'close': an orphaned child of the host may keep its standard output open.
    child.once('exit', (code) => {
      clearTimeout(timer)
      process.off('exit', killGroup)
      killGroup()
      setImmediate(() =>
        resolve({ code, isLate, output: Buffer.concat(output).toString(), errors: Buffer.concat(errors).toString() }),
      )
    })
  })
