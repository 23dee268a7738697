import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Measurement } from './probe.ts'

const command = fileURLToPath(new URL('../../../packages/cli/bundle/main.js', import.meta.url))
const built = (file: string): string => fileURLToPath(new URL(`../../dist/soak/${file}`, import.meta.url))

/** The published command, serving the soak's servers. */
export interface GatewayProcess extends AsyncDisposable {
  readonly url: string
  /** Switches between two configurations with different servers. */
  reload(): Promise<void>
  measure(): Promise<Measurement>
  /** Process ids of all servers that are running now. */
  servers(): readonly number[]
}

const limits = { callsPerMinute: 1_000_000 }

export async function startGatewayProcess(): Promise<GatewayProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-soak-'))
  const pids = join(folder, 'pids')
  const file = join(folder, 'unfold.json')
  const server = { command: process.execPath, args: [built('servers/upstream.js'), pids] }
  let writes = 0
  const write = async (mcpServers: object): Promise<void> => {
    // A reload must not read a half-written file.
    const next = `${file}.${++writes}`
    await writeFile(next, JSON.stringify({ limits, mcpServers, reload: 'always' }))
    await rename(next, file)
  }
  await writeFile(pids, '')
  await write({ one: server, two: server })
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--import', built('probe.js'), command, 'serve', '--http', '0', '--json'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, UNFOLD_HOME: join(folder, 'home') },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  let isExtended = false
  return {
    url: await urlOf(child),
    async reload() {
      isExtended = !isExtended
      await write({ one: server, two: server, ...(isExtended && { three: server }) })
    },
    async measure() {
      child.send('measure')
      const [measurement] = (await once(child, 'message')) as [Measurement]
      return measurement
    },
    servers: () =>
      readFileSync(pids, 'utf8')
        .split('\n')
        .flatMap((line) => (line !== '' && isRunning(Number(line)) ? [Number(line)] : [])),
    async [Symbol.asyncDispose]() {
      const exited = child.exitCode === null ? once(child, 'exit') : undefined
      child.kill('SIGTERM')
      if (exited !== undefined && (await Promise.race([exited, pause(20_000, 'late')])) === 'late') child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  let stdout = ''
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr = (stderr + chunk).slice(-10_000)))
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The gateway did not start: ${stderr}`)))
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
      const line = /^\{.*\}$/mu.exec(stdout)?.[0]
      if (line !== undefined) resolve((JSON.parse(line) as { readonly url: string }).url)
    })
  })
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
