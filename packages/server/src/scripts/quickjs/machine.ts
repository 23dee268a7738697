import { readFileSync } from 'node:fs'
import { type Failure, isFailure } from '@unfold-mcp/core'
import type { CallOutcome, ScriptCall, ScriptLimits, ScriptMachine, ScriptProgram, ScriptTurn } from '../engine.ts'
import { cancelled, limitExceeded, rejectedSnapshot, unavailable } from './failures.ts'
import type { WorkerReply, WorkerRequest, WorkerStop, WorkerTurn } from './messages.ts'
import type { WorkerThread } from './worker-thread.ts'

// What the worker needs to stop a script itself. After that, it is terminated.
const graceMs = 250

// Memory of a machine is only freed with its thread, at a time of V8's choice otherwise.
const maxKeptBytes = 32 * 1024 * 1024

/** A request of a turn without its deadline. */
type TurnRequest = DistributiveOmit<Extract<WorkerRequest, { readonly wallMs: number }>, 'wallMs'>
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** What happens to the worker of a machine that has ended. */
export type Release = (state: 'reusable' | 'used up') => void

/** One script in a worker thread, with the limits that the thread cannot enforce itself. */
export class WorkerMachine implements ScriptMachine {
  readonly #thread: WorkerThread
  readonly #limits: ScriptLimits
  readonly #release: Release
  readonly #cpuFile: string | undefined
  #cpuAtOpen: number
  readonly #controller = new AbortController()
  readonly #calls = new Map<number, ScriptCall>()
  #state: 'new' | 'running' | 'waiting' | 'over' = 'new'
  #cpuMs = 0
  #requestedAt = 0
  #memoryBytes = 0
  #unreadOutput: readonly string[] = []
  #deadline = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #failure: Failure | undefined

  constructor(thread: WorkerThread, cpuFile: string | undefined, limits: ScriptLimits, release: Release) {
    this.#thread = thread
    this.#limits = limits
    this.#release = release
    this.#cpuFile = cpuFile
    this.#cpuAtOpen = this.#threadCpuMs()
  }

  get cpuMs(): number {
    return this.#cpuMs
  }

  get unreadOutput(): readonly string[] {
    return this.#unreadOutput
  }

  get ended(): AbortSignal {
    return this.#controller.signal
  }

  async start({ source, form = 'body', input, startedAt = 0, seed = 0 }: ScriptProgram): Promise<ScriptTurn> {
    this.#expect('new')
    this.#deadline = performance.now() + this.#limits.wallMs
    const limits = this.#limits
    return this.#turn({ kind: 'start', limits, source, form, input: JSON.stringify(input), startedAt, seed: seed | 0 })
  }

  async restore(snapshot: Uint8Array): Promise<ScriptTurn> {
    this.#expect('new')
    this.#deadline = performance.now() + this.#limits.wallMs
    return this.#turn({ kind: 'restore', limits: this.#limits, snapshot })
  }

  async settle(outcomes: readonly CallOutcome[]): Promise<ScriptTurn> {
    this.#expect('waiting')
    const known = outcomes.filter(({ id }) => this.#calls.delete(id))
    const settled = known.map((outcome) =>
      'error' in outcome ? [outcome.id, 0, outcome.error] : [outcome.id, 1, outcome.value ?? null],
    )
    return this.#turn({ kind: 'settle', outcomes: JSON.stringify(settled) })
  }

  async snapshot(): Promise<Uint8Array> {
    this.#expect('waiting')
    const reply = await this.#request({ kind: 'snapshot' })
    this.#state = 'waiting'
    this.#watchWaiting()
    if (reply.kind !== 'snapshot') throw this.#fail(unavailable(`the worker answered with "${reply.kind}".`))
    return reply.bytes
  }

  close(): void {
    if (this.#state === 'over') return
    this.#end(undefined)
  }

  async #turn(request: TurnRequest): Promise<ScriptTurn> {
    const wallMs = Math.max(0, this.#deadline - performance.now())
    const reply = await this.#request({ ...request, wallMs })
    if ('cpuMs' in reply) this.#cpuMs = reply.cpuMs
    // CPU time that was used before the snapshot was taken, in another thread.
    if (request.kind === 'restore') this.#cpuAtOpen -= this.#cpuMs
    switch (reply.kind) {
      case 'turn':
        return this.#read(reply)
      case 'stopped':
        throw this.#stopped(reply)
      case 'rejected':
        throw this.#fail(rejectedSnapshot(reply.problem))
      default:
        throw this.#fail(unavailable(`the worker answered with "${reply.kind}".`))
    }
  }

  /** The worker stopped the script itself, so only its machine is spoiled. */
  #stopped({ by, output, memoryBytes }: WorkerStop): Failure {
    this.#unreadOutput = output
    this.#memoryBytes = memoryBytes
    this.#state = 'waiting'
    return this.#fail(limitExceeded(by, this.#limits))
  }

  #read({ end, output, memoryBytes }: WorkerTurn): ScriptTurn {
    this.#memoryBytes = memoryBytes
    if (end.kind !== 'waiting') {
      this.#state = 'waiting'
      this.#end(undefined)
      if (end.kind === 'threw') return { kind: 'threw', error: end.error, output }
      return { kind: 'returned', value: end.value === undefined ? undefined : JSON.parse(end.value), output }
    }
    for (const call of end.calls) this.#calls.set(call.id, { ...call, arguments: JSON.parse(call.arguments) })
    this.#state = 'waiting'
    this.#watchWaiting()
    return { kind: 'waiting', calls: [...this.#calls.values()], output }
  }

  async #request(request: WorkerRequest): Promise<WorkerReply> {
    this.#state = 'running'
    this.#requestedAt = performance.now()
    this.#watchRunning(this.#cpuMs)
    try {
      const reply = await this.#thread.request(request)
      this.#throwIfOver()
      return reply
    } catch (error) {
      this.#throwIfOver()
      throw isFailure(error) ? error : this.#fail(this.#crash(error))
    } finally {
      if (this.#state === 'running') this.#unschedule()
    }
  }

  /** Returns what a worker that ended by itself means. */
  #crash(error: unknown): Failure {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      return limitExceeded('memory', this.#limits)
    return unavailable('the worker ended unexpectedly.', error)
  }

  /** Ends a script that its worker does not stop, such as one inside a single native operation. */
  #watchRunning(cpuMs: number): void {
    const wallLeft = this.#deadline + graceMs - performance.now()
    const cpuLeft = this.#limits.cpuMs + graceMs - cpuMs
    if (wallLeft > 0 && cpuLeft > 0) {
      this.#schedule(Math.min(wallLeft, cpuLeft), () => this.#watchRunning(this.#measuredCpuMs()))
      return
    }
    if (cpuLeft <= 0) this.#cpuMs = this.#limits.cpuMs
    this.#end(limitExceeded(cpuLeft <= 0 ? 'cpu' : 'wall', this.#limits))
  }

  #watchWaiting(): void {
    this.#schedule(this.#deadline - performance.now(), () => {
      this.#end(limitExceeded('wall', this.#limits))
    })
  }

  #schedule(ms: number, action: () => void): void {
    clearTimeout(this.#timer)
    const timer = setTimeout(
      () => {
        // A reply that has already arrived comes first: this thread may have been busy.
        setImmediate(() => {
          if (this.#timer === timer) action()
        })
      },
      Math.max(1, ms),
    ).unref()
    this.#timer = timer
  }

  #unschedule(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** CPU time used by the script. Without a way to measure it, elapsed time counts. */
  #measuredCpuMs(): number {
    const elapsed = this.#cpuMs + performance.now() - this.#requestedAt
    return this.#cpuFile === undefined ? elapsed : Math.min(elapsed, this.#threadCpuMs() - this.#cpuAtOpen)
  }

  #threadCpuMs(): number {
    try {
      // Nanoseconds come first.
      return this.#cpuFile === undefined ? 0 : Number.parseInt(readFileSync(this.#cpuFile, 'utf8'), 10) / 1_000_000
    } catch {
      // The thread has just ended.
      return 0
    }
  }

  #expect(state: 'new' | 'waiting'): void {
    this.#throwIfOver()
    if (this.#state !== state) throw new Error(`The machine is ${this.#state}, not ${state}.`)
  }

  #throwIfOver(): void {
    if (this.#state === 'over') throw this.#failure ?? cancelled()
  }

  #fail(failure: Failure): Failure {
    this.#end(failure)
    return failure
  }

  #end(failure: Failure | undefined): void {
    const isReusable = this.#state !== 'running' && this.#memoryBytes <= maxKeptBytes
    this.#state = 'over'
    this.#failure = failure
    this.#unschedule()
    this.#calls.clear()
    this.#release(isReusable ? 'reusable' : 'used up')
    this.#controller.abort(failure)
  }
}
