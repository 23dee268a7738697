import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandFile, serverFile } from '../../../test/bundled-servers.ts'

/** The file of the command, as published or with stored code. */
export const main = commandFile

const require = createRequire(import.meta.url)

const here = (path: string): string => serverFile(new URL(path, import.meta.url))

/** Test servers, as the arguments after `--`: ours, and third-party ones. */
export const servers = {
  desk: [process.execPath, here('servers/desk.mjs')],
  grouped: [process.execPath, here('servers/grouped.mjs')],
  gated: [process.execPath, here('servers/gated.mjs')],
  troubled: [process.execPath, here('servers/troubled.mjs')],
  odd: (what: string, mark = '') => [process.execPath, here('servers/odd.mjs'), what, mark],
  everything: [process.execPath, require.resolve('@modelcontextprotocol/server-everything/dist/index.js')],
  files: (folder: string) => [process.execPath, require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'), folder],
  memory: [process.execPath, require.resolve('@modelcontextprotocol/server-memory/dist/index.js')],
  thinking: [process.execPath, require.resolve('@modelcontextprotocol/server-sequential-thinking/dist/index.js')],
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string
  readonly env?: { readonly [name: string]: string | undefined }
  readonly cwd?: string
  /** Called with the process once it runs. */
  readonly meanwhile?: (child: {
    readonly pid: number
    kill(signal: NodeJS.Signals): void
    stderr(): string
    stdout(): string
  }) => void
}

/** A separate home folder for the commands of a test. */
export interface Home extends AsyncDisposable {
  readonly folder: string
  readonly env: { readonly [name: string]: string | undefined }
  /** Runs the command with these arguments, without a terminal. */
  unfold(args: readonly string[], options?: RunOptions): Promise<Ended>
}

export async function home(): Promise<Home> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'unfold-home-')))
  const env = { PATH: process.env.PATH, HOME: folder, UNFOLD_HOME: join(folder, 'unfold'), LANG: 'C.UTF-8' }
  return {
    folder,
    env,
    unfold: (args, options = {}) =>
      run(process.execPath, [main, ...args], { cwd: folder, ...options, env: { ...env, ...options.env } }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  }
}

/** Runs a program until it exits. */
export function run(command: string, args: readonly string[], { stdin, env, cwd, meanwhile }: RunOptions = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: env as NodeJS.ProcessEnv, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.on('error', () => undefined)
    child.stdin.end(stdin ?? '')
    child.once('error', reject)
    child.once('spawn', () =>
      meanwhile?.({
        pid: child.pid ?? 0,
        kill: (signal) => void child.kill(signal),
        stderr: () => Buffer.concat(err).toString(),
        stdout: () => Buffer.concat(out).toString(),
      }),
    )
    child.once('close', (code) => resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }))
  })
}

/** Whether a process with this pid exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The processes with a mark in their command line; none if the system cannot list them. */
export async function processesWith(mark: string): Promise<readonly number[]> {
  const numbers = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/u.test(name))
  const lines = await Promise.all(numbers.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return numbers.filter((_, at) => lines[at]?.includes(mark) === true).map(Number)
}
