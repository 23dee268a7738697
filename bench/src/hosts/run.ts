import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Driver, Scene } from './drivers/driver.ts'
import { type Agent, Endpoint, type Turn } from './endpoint/endpoint.ts'
import { unfold } from './gateway.ts'
import { type Ended, runProcess } from './host-process.ts'
import { commandOf, fullTitle } from './installed.ts'

const execute = promisify(execFile)

/** What happened while a host worked on one prompt. */
export interface HostRun {
  readonly turns: readonly Turn[]
  /** Requests that were no turns. */
  readonly asides: readonly string[]
  readonly ended: Ended
}

/** What a host is connected to: a gateway with its configuration and environment, or any server at an address. */
interface Target {
  readonly url: string
  readonly config?: string
  readonly env?: NodeJS.ProcessEnv
}

export interface RunOptions {
  readonly gateway: Target
  readonly agent: Agent
  readonly prompt: string
  /** In place of the arguments that pass the prompt. */
  readonly args?: readonly string[]
  readonly transport?: 'http' | 'stdio'
  readonly deadlineMs?: number
  /** Called when the host is connected, right before it starts. */
  readonly beforeStart?: () => void
  /** More arguments of `unfold connect`. */
  readonly connectArgs?: readonly string[]
  /** Added to the environment of the host. */
  readonly env?: Readonly<Record<string, string>>
}

// A host answers within seconds on an idle machine; this one is shared.
const usualDeadlineMs = 240_000

/** Connects a host with a fresh home to the gateway as its user would, runs it on one prompt, and returns what the model received. */
export async function runHost(driver: Driver, options: RunOptions): Promise<HostRun> {
  const { gateway, agent, prompt, transport = 'http', deadlineMs = usualDeadlineMs } = options
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
    const ended = await runProcess([...command, ...(options.args ?? driver.args(prompt))], {
      env,
      cwd: scene.project,
      deadlineMs,
    })
    return { turns: [...endpoint.turns], asides: [...endpoint.asides], ended }
  } finally {
    if (process.env.LAB_KEEP === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    else console.error(`${driver.id}: ${folder}`)
  }
}

/** The host as an installation leaves it: a program on the PATH. */
async function putProgram(file: string, command: readonly string[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  await writeFile(file, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
}

/** A machine with nothing on it, and no network but loopback. */
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
