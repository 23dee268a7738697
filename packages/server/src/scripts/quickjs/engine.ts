import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Semaphore } from '@unfold-mcp/core'
import type { ScriptEngine, ScriptMachine, ScriptOptions } from '../engine.ts'
import { cancelled, unavailable } from './failures.ts'
import { harness, harnessVersion } from './harness.ts'
import { WorkerMachine } from './machine.ts'
import { WorkerThread } from './worker-thread.ts'

const packageName = 'quickjs-wasi'

/** Version of `quickjs-wasi` that this engine is tested with. */
export const packageVersion = '3.6.2'

/** The only function that is needed: the library is compiled without the types of browsers. */
const { WebAssembly } = globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } }

const version = `${packageName} ${packageVersion}, harness ${harnessVersion}`

export interface QuickJsOptions {
  /** Scripts that run or wait for calls at the same time, each in a thread; default: 4. */
  readonly workers?: number
  /** Scripts that wait for a worker; default: 64. */
  readonly queue?: number
  /** Time after which an unused worker ends; default: 30,000. */
  readonly idleMs?: number
}

/** Runs scripts in QuickJS, compiled to WebAssembly, in worker threads that start when needed. Needs the package `quickjs-wasi`. */
export function quickJsEngine({ workers = 4, queue = 64, idleMs = 30_000 }: QuickJsOptions = {}): ScriptEngine {
  const slots = new Semaphore(() => ({ concurrency: workers, queue }))
  const threads = new Set<WorkerThread>()
  const idle = new Map<WorkerThread, NodeJS.Timeout>()
  const machines = new Set<ScriptMachine>()
  let isClosed = false
  let loading: Promise<object> | undefined

  async function open({ limits, signal, holder }: ScriptOptions): Promise<ScriptMachine> {
    const leave = await slots.acquire(signal, holder).catch(() => {
      throw cancelled()
    })
    if (leave === undefined) throw unavailable(`too many are running and queued (running: ${slots.running}). Try again later.`)
    try {
      const thread = takeIdle() ?? (await startThread())
      const { cpuFile } = await thread.ready.catch((error: unknown) => {
        throw unavailable('the worker thread did not start.', error)
      })
      if (isClosed || signal.aborted) {
        keep(thread)
        throw cancelled()
      }
      return openMachine(thread, cpuFile, leave)
    } catch (error) {
      leave()
      throw error
    }

    function openMachine(thread: WorkerThread, cpuFile: string | undefined, release: () => void): ScriptMachine {
      const close = (): void => machine.close()
      const machine = new WorkerMachine(thread, cpuFile, limits, (state) => {
        signal.removeEventListener('abort', close)
        machines.delete(machine)
        void (state === 'reusable' ? recycle(thread) : thread.kill()).finally(release)
      })
      signal.addEventListener('abort', close, { once: true })
      machines.add(machine)
      return machine
    }
  }

  async function startThread(): Promise<WorkerThread> {
    loading ??= loadModule()
    const wasm = await loading.catch((error: unknown) => {
      loading = undefined
      throw error
    })
    if (isClosed) throw cancelled()
    const thread = new WorkerThread({ wasm, harness, version })
    threads.add(thread)
    void thread.exited.then(() => {
      threads.delete(thread)
      clearTimeout(idle.get(thread))
      idle.delete(thread)
    })
    return thread
  }

  function takeIdle(): WorkerThread | undefined {
    // The one used last, so that the others can end.
    const thread = [...idle.keys()].at(-1)
    if (thread === undefined) return undefined
    clearTimeout(idle.get(thread))
    idle.delete(thread)
    return thread
  }

  async function recycle(thread: WorkerThread): Promise<void> {
    try {
      await thread.request({ kind: 'end' })
      keep(thread)
    } catch {
      await thread.kill()
    }
  }

  function keep(thread: WorkerThread): void {
    if (isClosed) void thread.kill()
    else if (threads.has(thread)) idle.set(thread, setTimeout(() => void thread.kill(), idleMs).unref())
  }

  return {
    version,
    open,
    async [Symbol.asyncDispose]() {
      isClosed = true
      for (const machine of machines) machine.close()
      await Promise.all(Array.from(threads, (thread) => thread.kill()))
    },
  }
}

async function loadModule(): Promise<object> {
  try {
    return await WebAssembly.compile(await readFile(createRequire(import.meta.url).resolve(`${packageName}/quickjs.wasm`)))
  } catch (error) {
    throw unavailable(`the package "${packageName}" cannot be loaded. Install version ${packageVersion} of it.`, error)
  }
}
