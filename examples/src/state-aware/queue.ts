import { setImmediate as turn } from 'node:timers/promises'
import { LiveFacts, ToolError } from '@unfold-mcp/server'
import { type Kind, works } from './work.ts'

export type State = 'waiting' | 'running' | 'done' | 'failed'

export interface Job {
  readonly id: number
  readonly kind: Kind
  readonly size: number
  readonly state: State
  readonly steps: number
  /** Its result, or why it failed. */
  readonly outcome?: string
}

export interface Limits {
  /** Maximum number of queued jobs. */
  readonly waiting: number
  /** Maximum number of finished jobs; the oldest are removed. */
  readonly ended: number
  /** Maximum number of steps of a job. */
  readonly steps: number
}

const usual: Limits = { waiting: 100, ended: 200, steps: 20_000_000 }
const stepsPerTurn = 20_000

/** Runs one job at a time. The number of jobs in each state is a fact that announces its changes. */
export class JobQueue {
  readonly facts = new LiveFacts<{ [S in State]: number }>({ waiting: 0, running: 0, done: 0, failed: 0 })
  readonly #limits: Limits
  readonly #jobs = new Map<number, Job>()
  #lastId = 0
  #isRunning = false
  #isClosed = false

  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { ...usual, ...limits }
  }

  /** Queues a job. */
  submit(kind: Kind, size: number): Job {
    if (this.facts.get('waiting') >= this.#limits.waiting)
      throw new ToolError(`${this.#limits.waiting} jobs are queued, which is the limit. Try again later.`)
    const job: Job = { id: ++this.#lastId, kind, size, state: 'waiting', steps: 0 }
    this.#put(job)
    void this.#run()
    return job
  }

  /** Returns the jobs in this state, newest first. */
  jobs(state: State): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => job.state === state).reverse()
  }

  /** Removes finished jobs. */
  clear(): number {
    const ended = [...this.jobs('done'), ...this.jobs('failed')]
    for (const { id } of ended) this.#jobs.delete(id)
    this.#count()
    return ended.length
  }

  close(): void {
    this.#isClosed = true
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let job = this.#next(); job !== undefined && !this.#isClosed; job = this.#next()) await this.#work(job)
    this.#isRunning = false
  }

  #next(): Job | undefined {
    return [...this.#jobs.values()].find(({ state }) => state === 'waiting')
  }

  async #work(job: Job): Promise<void> {
    this.#put({ ...job, state: 'running' })
    const work = works[job.kind](job.size)
    for (let steps = 0; !this.#isClosed; steps++) {
      if (steps % stepsPerTurn === 0) await turn()
      if (steps >= this.#limits.steps) {
        const outcome = `It was given up after ${steps} steps. Submit a smaller one.`
        this.#put({ ...job, state: 'failed', steps, outcome })
        return
      }
      const { done, value } = work.next()
      if (done !== true) continue
      this.#put({ ...job, state: 'done', steps, outcome: value })
      return
    }
  }

  #put(job: Job): void {
    this.#jobs.set(job.id, job)
    const ended = [...this.#jobs.values()].filter(({ state }) => state === 'done' || state === 'failed')
    for (const { id } of ended.slice(0, Math.max(0, ended.length - this.#limits.ended))) this.#jobs.delete(id)
    this.#count()
  }

  // Updated together, so that no reader sees a job between two states.
  #count(): void {
    const counts = { waiting: 0, running: 0, done: 0, failed: 0 }
    for (const { state } of this.#jobs.values()) counts[state]++
    this.facts.set(counts)
  }
}
