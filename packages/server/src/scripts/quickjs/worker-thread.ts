import { Worker } from 'node:worker_threads'
import type { WorkerReply, WorkerRequest, WorkerSettings } from './messages.ts'

const file = new URL('./worker.mjs', import.meta.url)

// Heap for messages: scripts live in the memory of the module. Deep recursion in a script also uses the stack of the thread.
const resourceLimits = { maxOldGenerationSizeMb: 128, stackSizeMb: 8 }

type Ready = Extract<WorkerReply, { kind: 'ready' }>

/** A worker thread. It answers one request at a time. Keeps the process alive only while a request runs. */
export class WorkerThread {
  /** Settles when the worker can run scripts; rejects when it cannot. */
  readonly ready: Promise<Ready>
  /** Resolves when the thread has ended, for any reason. */
  readonly exited: Promise<void>
  readonly #worker: Worker
  #settle: { readonly resolve: (reply: WorkerReply) => void; readonly reject: (error: unknown) => void } | undefined

  constructor(settings: WorkerSettings) {
    this.#worker = new Worker(file, { workerData: settings, resourceLimits, env: {}, execArgv: [], stdin: false, name: 'script' })
    const fail = (error: unknown): void => {
      this.#settle?.reject(error)
      this.#settle = undefined
    }
    this.exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        fail(new Error('The worker thread has ended.'))
        resolve()
      })
    })
    this.#worker.on('error', fail).on('messageerror', fail)
    this.#worker.on('message', (reply: WorkerReply) => {
      this.#settle?.resolve(reply)
      this.#settle = undefined
    })
    this.ready = this.#reply() as Promise<Ready>
    this.ready.catch(() => undefined)
  }

  async request(request: WorkerRequest): Promise<WorkerReply> {
    await this.ready
    if (this.#settle !== undefined) throw new Error('The worker thread is busy.')
    const reply = this.#reply()
    this.#worker.postMessage(request)
    return reply
  }

  async kill(): Promise<void> {
    await this.#worker.terminate()
  }

  async #reply(): Promise<WorkerReply> {
    this.#worker.ref()
    try {
      return await new Promise((resolve, reject) => {
        this.#settle = { resolve, reject }
      })
    } finally {
      this.#worker.unref()
    }
  }
}
