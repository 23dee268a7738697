import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Driver, Scene } from './drivers/driver.ts'
import { type Agent, Endpoint, type Turn } from './endpoint/endpoint.ts'
import { unfold } from './gateway.ts'
import { type Ended, type Launch, runProcess } from './host-process.ts'
import { commandOf, fullTitle } from './installed.ts'
import { endLeftovers } from './leftovers.ts'

const execute = promisify(execFile)

/** Record of a host run with one prompt. */
export interface HostRun {
  readonly turns: readonly Turn[]
  /** Auxiliary requests. */
  readonly asides: readonly string[]
  readonly ended: Ended
}

/** The server for the host: a gateway with configuration and environment, or any server URL. */
interface Target {
  readonly url: string
  readonly config?: string
  readonly env?: NodeJS.ProcessEnv
}

export interface RunOptions {
  readonly gateway: Target
  readonly agent: Agent
  readonly prompt: string
  /** Replaces the arguments that pass the prompt. */
  readonly args?: readonly string[]
  readonly transport?: 'http' | 'stdio'
  readonly deadlineMs?: number
  /** Called when the host is configured, right before it starts. */
  readonly beforeStart?: () => void
  /** Additional arguments of `unfold connect`. */
  readonly connectArgs?: readonly string[]
  /** Additional environment variables of the host. */
  readonly env?: Readonly<Record<string, string>>
  /** Runs the host; default: without a terminal. */
  readonly launch?: Launch
}

// A host needs only seconds on an idle machine, but CI machines are shared.
const usualDeadlineMs = 240_000

/** Connects a host with a new home folder to the gateway like a user would, runs one prompt, and returns the model requests. */
export async function runHost(driver: Driver, options: RunOptions): Promise<HostRun> {
  const { gateway, agent, prompt, transport = 'http', deadlineMs = usualDeadlineMs, launch = runProcess } = options
  const command = commandOf(driver)
  if (command === undefined) throw new Error(`${fullTitle(driver)} is not installed`)
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'unfold-lab-host-')))
  await using endpoint = await Endpoint.open(agent, prompt)
  try {
    const scene: Scene = { home: join(folder, 'home'), project: join(folder, 'home', 'project'), endpoint: endpoint.url }
    await mkdir(scene.project, { recursive: true })
    const programs = join(folder, 'bin')
    await putProgram(join(programs, driver.command), command)
    const env = { ...environment(scene, programs), ...driver.env(scene), ...options.env }
    await driver.prepare(scene)
    await connected(driver, { scene, gateway, transport, env, connectArgs: options.connectArgs ?? [] })
    options.beforeStart?.()
    const ended = await launch([...command, ...(options.args ?? driver.args(prompt))], {
      env,
      cwd: scene.project,
      deadlineMs,
    })
    return { turns: [...endpoint.turns], asides: [...endpoint.asides], ended }
  } finally {
    await endLeftovers(folder)
    if (process.env.LAB_KEEP === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    else console.error(`${driver.id}: ${folder}`)
  }
}

/** Adds the host to the PATH, like an installation does. */
async function putProgram(file: string, command: readonly string[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  await writeFile(file, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
}

/** Environment of a machine without other software and with loopback only. */
function environment({ home }: Scene, programs: string): NodeJS.ProcessEnv {
  const nowhere = 'http://127.0.0.1:9'
  return {
    PATH: `${programs}:${process.env.PATH ?? ''}`,
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    HTTPS_PROXY: nowhere,
    https_proxy: nowhere,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  }
}

interface Connection {
  readonly scene: Scene
  readonly gateway: Target
  readonly transport: 'http' | 'stdio'
  readonly env: NodeJS.ProcessEnv
  readonly connectArgs: readonly string[]
}

async function connected({ connect }: Driver, { scene, gateway, transport, env, connectArgs }: Connection): Promise<void> {
  const { url, config } = gateway
  const where = config === undefined ? ['--url', url] : ['--config', config]
  const args = [unfold, 'connect', connect, '--yes', ...where, ...(transport === 'stdio' ? ['--stdio'] : []), ...connectArgs]
  await execute(process.execPath, args, { env: { ...env, UNFOLD_HOME: gateway.env?.UNFOLD_HOME }, cwd: scene.project })
}
