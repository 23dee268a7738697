import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { main } from '../../packages/cli/test/command.ts'

/** A gateway in a process of its own. */
export interface Replica extends AsyncDisposable {
  readonly name: string
  readonly port: number
  readonly isRunning: boolean
  /** How often it was started. */
  readonly starts: number
  /** True between `suspend` and `resume`. */
  readonly isSuspended: boolean
  start(): Promise<void>
  kill(signal?: NodeJS.Signals): Promise<void>
  /** SIGSTOP. */
  suspend(): void
  /** SIGCONT. */
  resume(): void
  /** Makes its wall clock differ from that of the others. */
  setClock(offsetMs: number): void
  /** The last lines that it printed. */
  readonly output: string
}

export interface ReplicaOptions {
  readonly name: string
  /** The configuration file. */
  readonly file: string
  readonly port: number
  readonly env: NodeJS.ProcessEnv
  /** A file for the offset of its wall clock. */
  readonly clock?: string
}

const clockModule = fileURLToPath(new URL('clock-offset.mjs', import.meta.url))

const maxOutput = 20_000

export async function startReplica({ name, file, port, env, clock }: ReplicaOptions): Promise<Replica> {
  let child: ChildProcess | undefined
  let output = ''
  let starts = 0
  let isSuspended = false
  const setClock = (offsetMs: number): void => (clock === undefined ? undefined : writeFileSync(clock, `${offsetMs}`))
  setClock(0)
  const replica: Replica = {
    name,
    port,
    get isRunning() {
      return child !== undefined
    },
    get starts() {
      return starts
    },
    get isSuspended() {
      return isSuspended
    },
    get output() {
      return output
    },
    async start() {
      const started = spawn(process.execPath, ['--import', clockModule, main, 'serve', file, '--http', `${port}`, '--json'], {
        env: { ...env, UNFOLD_TEST_CLOCK: clock },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child = started
      starts++
      started.stderr.on('data', (data) => {
        output = `${output}${String(data)}`.slice(-maxOutput)
      })
      const ended = once(started, 'exit').then(([code]) => {
        throw new Error(`Replica ${name} ended with code ${String(code)}:\n${output}`)
      })
      await Promise.race([once(createInterface({ input: started.stdout }), 'line'), ended])
      ended.catch(() => undefined)
      for (let attempt = 0; attempt < 1_200; attempt++) {
        const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
        if (reply?.ok === true) return
        await pause(50)
      }
      throw new Error(`Replica ${name} is not ready:\n${output}`)
    },
    async kill(signal = 'SIGKILL') {
      const running = child
      child = undefined
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
      running.kill('SIGCONT')
      running.kill(signal)
      await once(running, 'exit')
    },
    suspend() {
      isSuspended = true
      child?.kill('SIGSTOP')
    },
    resume() {
      isSuspended = false
      child?.kill('SIGCONT')
    },
    setClock,
    async [Symbol.asyncDispose]() {
      await replica.kill()
    },
  }
  await replica.start()
  return replica
}
