import { randomUUID } from 'node:crypto'
import { type InputRequests, type InputRequiredResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Answer, Clock, Question, Relay } from '@unfold-mcp/client'
import { type ProxiedRequest, askableCapabilities, logLevelOf, logTo, ownerOf, question, refusal } from './proxied-request.ts'

/** Asks the server for somebody, and waits for what it answers. */
export type Run<T> = (relay: Relay, options: { signal: AbortSignal; onProgress: OnProgress }) => Promise<T>

type OnProgress = (report: { progress: number; total?: number | undefined; message?: string | undefined }) => void

interface Open {
  readonly question: Question
  readonly answer: (answer: Answer) => void
  readonly refuse: (error: Error) => void
}

const mark = 'held.'
const most = 256
const mostOfOne = 32
const patienceMs = 300_000

/**
 * A request that goes on at its server while its client is being asked. A 2026-07-28 client is asked with the answer to its
 * request, and comes back with another one, so what the server is doing waits in between.
 */
class SuspendedRequest {
  readonly owner: string
  /** Who is asked; nobody in particular where everybody may come in. */
  readonly client: string | undefined
  readonly outcome: Promise<object>
  readonly #stop = new AbortController()
  readonly #open = new Map<string, Open>()
  #now: ProxiedRequest
  #number = 0
  #wake: () => void = () => undefined

  constructor(asked: ProxiedRequest, run: Run<object>) {
    this.owner = ownerOf(asked)
    this.client = asked.client?.id
    this.#now = asked
    const relay: Relay = {
      capabilities: askableCapabilities(asked),
      logLevel: logLevelOf(asked),
      ask: (given, signal) => this.#ask(given, signal),
      onLog: (entry) => logTo(this.#now)(entry),
    }
    const onProgress: OnProgress = ({ progress, total, message }) => {
      this.#now.progress(progress, total, message).catch(() => undefined)
    }
    this.outcome = run(relay, { signal: this.#stop.signal, onProgress })
    // It may fail while nobody is waiting for it.
    this.outcome.catch(() => undefined)
  }

  /** What came of it, or what is to be asked before it goes on. */
  async next(asked: ProxiedRequest): Promise<{ readonly result: object } | { readonly questions: InputRequests }> {
    this.#now = asked
    const abort = (): void => this.end(asked.signal.reason)
    if (asked.signal.aborted) abort()
    asked.signal.addEventListener('abort', abort)
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    if (this.#open.size > 0) this.#wake()
    try {
      const result = await Promise.race([this.outcome.then((value) => ({ result: value })), woken])
      return result ?? { questions: Object.fromEntries([...this.#open].map(([key, each]) => [key, each.question])) }
    } finally {
      asked.signal.removeEventListener('abort', abort)
    }
  }

  /** Gives the answers to what was asked. What was left out counts as not wanting to answer. */
  answer(given: Readonly<Record<string, unknown>>, keys: readonly string[]): void {
    for (const key of keys) {
      const open = this.#open.get(key)
      if (open === undefined) continue
      this.#open.delete(key)
      // What it holds is looked at where it is sent on.
      if (Object.hasOwn(given, key)) open.answer(given[key] as Answer)
      else if (open.question.method === 'elicitation/create') open.answer({ action: 'cancel' })
      else open.refuse(refusal('The client did not answer.'))
    }
  }

  /** Tells the server that nobody answers what it asks now. */
  refuse(why: string): void {
    for (const { refuse } of this.#open.values()) refuse(refusal(why))
    this.#open.clear()
  }

  end(reason: unknown): void {
    this.#stop.abort(reason)
    this.refuse('The client is gone.')
  }

  #ask(given: Question, signal: AbortSignal): Promise<Answer> {
    const asked = question(this.#now, given)
    const key = `${++this.#number}`
    return new Promise((resolve, reject) => {
      const off = (): void => {
        this.#open.delete(key)
        reject(refusal('It was called off.'))
      }
      if (signal.aborted) {
        off()
        return
      }
      signal.addEventListener('abort', off, { once: true })
      this.#open.set(key, { question: asked, answer: resolve, refuse: reject })
      this.#wake()
    })
  }
}

interface Deferred {
  readonly held: SuspendedRequest
  readonly keys: readonly string[]
  readonly forget: () => void
}

/** Whether the state that a client carries stands for a request that is held here. */
export const isSuspended = (state: string): boolean => state.startsWith(mark)

/** The requests that wait for their clients to come back: so many, and for so long. */
export class SuspendedRequests {
  readonly #clock: Clock
  readonly #waiting = new Map<string, Deferred>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Begins a request. Its answer is what came of it, or what the client has to say first. */
  begin(asked: ProxiedRequest, run: Run<object>): Promise<object> {
    return this.#next(new SuspendedRequest(asked, run), asked)
  }

  /** Goes on with a request. */
  async resume(asked: ProxiedRequest, state: string, answers: Readonly<Record<string, unknown>>): Promise<object> {
    const found = this.#waiting.get(state)
    if (found === undefined || found.held.owner !== ownerOf(asked)) throw unknownState()
    this.#waiting.delete(state)
    found.forget()
    found.held.answer(answers, found.keys)
    return this.#next(found.held, asked)
  }

  close(): void {
    for (const { held, forget } of this.#waiting.values()) {
      forget()
      held.end(new Error('The gateway ends.'))
    }
    this.#waiting.clear()
  }

  async #next(held: SuspendedRequest, asked: ProxiedRequest): Promise<object> {
    const next = await held.next(asked)
    if ('result' in next) return next.result
    if (!this.#hasRoomFor(held)) {
      held.refuse('Too many requests wait for their clients to answer. Ask again later.')
      return this.#next(held, asked)
    }
    const state = `${mark}${randomUUID()}`
    const late = (): void => {
      this.#waiting.delete(state)
      held.end(new Error('The client did not come back with an answer.'))
    }
    this.#waiting.set(state, { held, keys: Object.keys(next.questions), forget: this.#clock.after(patienceMs, late, true) })
    return { resultType: 'input_required', inputRequests: next.questions, requestState: state } satisfies InputRequiredResult
  }

  #hasRoomFor({ client }: SuspendedRequest): boolean {
    const own = [...this.#waiting.values()].filter(({ held }) => held.client === client)
    return this.#waiting.size < most && own.length < mostOfOne
  }
}

/** What a client is told whose answer belongs to nothing. */
export function unknownState(): ProtocolError {
  const problem = 'the answers belong to no request that waits for them'
  const message = `No request of yours waits for these answers: it took too long, they were given before, or it was another one. Begin anew, without requestState.`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: 'invalid_params', problem })
}
