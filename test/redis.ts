import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Needs, needs } from './needs.ts'

/** For `skipIf`: whether `redis-server` is installed. */
export const redisServer: Needs = needs('redis-server', 'redis-cli')

/** A real `redis-server` on a free port of 127.0.0.1, in a folder of its own. */
export interface TestRedis extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Sends one command in a process of its own, for example to look at the data. */
  cli(...args: readonly string[]): string
  /** Ends the server (SIGKILL) and keeps its data. */
  stop(): Promise<void>
  /** Starts it again on the same port, with its data. */
  start(...args: readonly string[]): Promise<void>
  /** Stops the process with SIGSTOP, so that it accepts connections but does not reply. */
  freeze(): void
  thaw(): void
}

/** Starts a server that has every acknowledged write on disk. `args`: additional options, such as `--maxmemory`. */
export const startRedis = (...args: readonly string[]): Promise<TestRedis> =>
  launch((folder) => ['--dir', folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always', ...args])

async function launch(argsIn: (folder: string) => readonly string[]): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-redis-'))
  const port = await freePort()
  let child: ChildProcess | undefined
  const start = async (...more: readonly string[]): Promise<void> => {
    const args = [...argsIn(folder), '--port', `${port}`, '--bind', '127.0.0.1', ...more]
    const started = spawn('redis-server', args, { cwd: folder, stdio: 'ignore' })
    child = started
    for (let attempt = 0; attempt < 1_200; attempt++) {
      if (started.exitCode !== null) throw new Error(`redis-server ended with code ${started.exitCode}`)
      if (await repliesAt(port)) return
      await pause(50)
    }
    throw new Error('redis-server does not reply')
  }
  const stop = async (): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    running.kill('SIGKILL')
    await once(running, 'exit')
  }
  const dispose = async (): Promise<void> => {
    await stop()
    await rm(folder, { recursive: true, force: true })
  }
  await start().catch(async (error: unknown) => {
    await dispose()
    throw error
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child?.pid ?? 0
    },
    cli: (...command) => execFileSync('redis-cli', ['-p', `${port}`, ...command], { encoding: 'utf8' }).trim(),
    stop,
    start,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    [Symbol.asyncDispose]: dispose,
  }
}

/** A Redis Cluster of one node, which has all slots. */
export async function startRedisCluster(): Promise<TestRedis> {
  const server = await startRedis('--cluster-enabled', 'yes')
  server.cli('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  for (let attempt = 0; attempt < 1_200 && !server.cli('CLUSTER', 'INFO').includes('cluster_state:ok'); attempt++) await pause(50)
  return { ...server, url: `redis+cluster://127.0.0.1:${server.port}` }
}

/** A Sentinel that watches a server under the name `main`. */
export async function startSentinel(master: TestRedis): Promise<TestRedis> {
  const sentinel = await launch((folder) => {
    // Sentinel writes its state to its configuration.
    const file = join(folder, 'sentinel.conf')
    writeFileSync(file, '', { flag: 'a' })
    return [file, '--sentinel']
  })
  sentinel.cli('SENTINEL', 'MONITOR', 'main', '127.0.0.1', `${master.port}`, '1')
  return { ...sentinel, url: `redis+sentinel://127.0.0.1:${sentinel.port}/main` }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function repliesAt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const end = (replies: boolean): void => {
      socket.destroy()
      resolve(replies)
    }
    socket.setTimeout(1_000, () => end(false))
    socket.once('error', () => end(false))
    socket.once('data', (data) => end(/^(?:\+PONG|-NOAUTH)/u.test(data.toString())))
  })
}
