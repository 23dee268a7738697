import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../hosts/ports.ts'

/** When `redis-server` writes its append-only file to disk: before each reply, or once a second (its default). */
export type Fsync = 'always' | 'everysec'

/** A `redis-server` with an append-only file. */
export interface MeasuredRedis extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** A number of `INFO`, such as `used_memory`. */
  info(name: string): number
}

export async function startRedis(fsync: Fsync): Promise<MeasuredRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-bench-redis-'))
  const port = await freePort()
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes']
  const child = spawn('redis-server', [...options, '--appendfsync', fsync], { stdio: 'ignore' })
  const cli = (...args: readonly string[]): string => execFileSync('redis-cli', ['-p', `${port}`, ...args], { encoding: 'utf8' })
  for (let attempt = 0; ; attempt++) {
    try {
      if (cli('PING').includes('PONG')) break
    } catch (error) {
      if (attempt === 200) throw error
    }
    await pause(50)
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    info: (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'mu').exec(cli('INFO'))?.[1] ?? 0),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
