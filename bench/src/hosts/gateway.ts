import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from './ports.ts'

const execute = promisify(execFile)

/** The published command. */
export const unfold = fileURLToPath(new URL('../../../packages/cli/bundle/main.js', import.meta.url))

const startMs = 120_000
const stopMs = 10_000
const lookEveryMs = 200

/** The gateway under test: a real `unfold serve`, or a configuration for a host that starts one itself. */
export class Gateway implements AsyncDisposable {
  readonly folder: string
  readonly #port: number
  #child: ChildProcess | undefined

  private constructor(folder: string, port: number) {
    this.folder = folder
    this.#port = port
  }

  /** Writes the configuration; `serve` starts the gateway. */
  static async configured(config: object): Promise<Gateway> {
    const port = await freePort()
    const folder = await mkdtemp(join(tmpdir(), 'unfold-lab-gateway-'))
    await writeFile(join(folder, 'unfold.json'), JSON.stringify({ listen: { port }, store: { kind: 'memory' }, ...config }))
    return new Gateway(folder, port)
  }

  /** Starts the gateway and waits until all its servers are ready. */
  async serve(): Promise<void> {
    const child = spawn(process.execPath, [unfold, 'serve', this.config, '--log-level', 'error'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: this.env,
      cwd: this.folder,
    })
    this.#child = child
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString()
    })
    const until = Date.now() + startMs
    while (!(await this.#isReady())) {
      if (child.exitCode !== null) throw new Error(`The gateway exited with code ${child.exitCode}: ${errors}`)
      if (Date.now() > until) throw new Error(`The gateway is not ready after ${startMs} ms: ${errors}`)
      await pause(lookEveryMs)
    }
  }

  async #isReady(): Promise<boolean> {
    const { stdout } = await execute(process.execPath, [unfold, 'status', '--json', '--config', this.config], {
      env: this.env,
      cwd: this.folder,
    }).catch(() => ({ stdout: '' }))
    if (stdout === '') return false
    const { isReady, upstreams } = JSON.parse(stdout) as { isReady: boolean; upstreams: readonly { readonly state: string }[] }
    return isReady && upstreams.every(({ state }) => state === 'ready')
  }

  /** Stops the process and waits until it has exited. */
  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const kill = setTimeout(() => child.kill('SIGKILL'), stopMs)
    child.kill('SIGTERM')
    await once(child, 'exit')
    clearTimeout(kill)
  }

  get config(): string {
    return join(this.folder, 'unfold.json')
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`
  }

  /** Environment of this gateway and of the commands that use it. */
  get env(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.folder, UNFOLD_HOME: join(this.folder, 'unfold'), LANG: 'C.UTF-8' }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
