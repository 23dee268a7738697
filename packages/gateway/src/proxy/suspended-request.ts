import { randomUUID } from 'node:crypto'
import { type InputRequests, type InputRequiredResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { ClientResult, Clock, Relay, ServerRequest } from '@unfold-mcp/client'
import {
  askableCapabilities,
  clientQuestion,
  logLevelOf,
  logTo,
  ownerOf,
  type ProxiedRequest,
  refusal,
} from './proxied-request.ts'
import { RequestStateCipher } from './request-state-cipher.ts'

/** Sends a request to the server and waits for its result. */
export type Send<T> = (relay: Relay, options: { signal: AbortSignal; onProgress: OnProgress }) => Promise<T>

type OnProgress = (report: { progress: number; total?: number | undefined; message?: string | undefined }) => void

interface OpenQuestion {
  readonly question: ServerRequest
  readonly answer: (answer: ClientResult) => void
  readonly refuse: (error: Error) => void
}

const prefix = 'suspended.'
const maxPending = 256
const maxPerClient = 32
const answerTimeoutMs = 300_000

/**
 * A request that stays open at its server while the client is asked for input. A 2026-07-28 client gets the questions as the result
 * of its request and answers them with a new request.
 */
class SuspendedRequest {
  readonly owner: string
  readonly client: string | undefined
  readonly outcome: Promise<object>
  readonly #stop = new AbortController()
  readonly #questions = new Map<string, OpenQuestion>()
  #current: ProxiedRequest
  #number = 0
  #wake: () => void = () => undefined

  constructor(request: ProxiedRequest, send: Send<object>) {
    this.owner = ownerOf(request)
    this.client = request.client?.id
    this.#current = request
    const relay: Relay = {
      capabilities: askableCapabilities(request),
      logLevel: logLevelOf(request),
      onRequest: (serverRequest, signal) => this.#ask(serverRequest, signal),
      onLog: (entry) => logTo(this.#current)(entry),
    }
    const onProgress: OnProgress = ({ progress, total, message }) => {
      this.#current.progress(progress, total, message).catch(() => undefined)
    }
    this.outcome = send(relay, { signal: this.#stop.signal, onProgress })
    // It may fail while nobody awaits it.
    this.outcome.catch(() => undefined)
  }

  /** Resolves with the result, or with the questions that have to be answered first. */
  async next(request: ProxiedRequest): Promise<{ readonly result: object } | { readonly questions: InputRequests }> {
    this.#current = request
    const abort = (): void => this.end(request.signal.reason)
    if (request.signal.aborted) abort()
    request.signal.addEventListener('abort', abort)
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    if (this.#questions.size > 0) this.#wake()
    try {
      const result = await Promise.race([this.outcome.then((value) => ({ result: value })), woken])
      return result ?? { questions: Object.fromEntries([...this.#questions].map(([key, each]) => [key, each.question])) }
    } finally {
      request.signal.removeEventListener('abort', abort)
    }
  }

  /** Passes on the answers. A missing answer cancels the question. */
  answer(given: Readonly<Record<string, unknown>>, keys: readonly string[]): void {
    for (const key of keys) {
      const open = this.#questions.get(key)
      if (open === undefined) continue
      this.#questions.delete(key)
      // Validated when it is sent to the server.
      if (Object.hasOwn(given, key)) open.answer(given[key] as ClientResult)
      else if (open.question.method === 'elicitation/create') open.answer({ action: 'cancel' })
      else open.refuse(refusal('The client did not answer.'))
    }
  }

  /** Rejects all open questions. */
  refuse(why: string): void {
    for (const { refuse } of this.#questions.values()) refuse(refusal(why))
    this.#questions.clear()
  }

  end(reason: unknown): void {
    this.#stop.abort(reason)
    this.refuse('The client disconnected.')
  }

  #ask(given: ServerRequest, signal: AbortSignal): Promise<ClientResult> {
    const request = clientQuestion(this.#current, given)
    const key = `${++this.#number}`
    return new Promise((resolve, reject) => {
      const off = (): void => {
        this.#questions.delete(key)
        reject(refusal('The request was cancelled.'))
      }
      if (signal.aborted) {
        off()
        return
      }
      signal.addEventListener('abort', off, { once: true })
      this.#questions.set(key, { question: request, answer: resolve, refuse: reject })
      this.#wake()
    })
  }
}

interface Deferred {
  readonly suspended: SuspendedRequest
  readonly keys: readonly string[]
  readonly forget: () => void
}

export const isSuspended = (state: string): boolean => state.startsWith(prefix)

/** Continues a request at the replica that has it; `undefined` if that replica cannot be reached. */
export type ResumeAt = (replica: string, request: ProxiedRequest) => Promise<object> | undefined

export interface SuspendedOptions {
  /** Encrypts the state that names this replica; default: with a random key. */
  readonly cipher?: RequestStateCipher
  readonly replica?: string | undefined
  readonly resumeAt?: ResumeAt | undefined
}

/** Requests that wait for answers, limited in number and time. */
export class SuspendedRequests {
  readonly #clock: Clock
  readonly #cipher: RequestStateCipher
  readonly #replica: string
  readonly #resumeAt: ResumeAt
  /** By a random id. */
  readonly #pending = new Map<string, Deferred>()

  constructor(
    clock: Clock,
    { cipher = new RequestStateCipher(), replica = '', resumeAt = () => undefined }: SuspendedOptions = {},
  ) {
    this.#clock = clock
    this.#cipher = cipher
    this.#replica = replica
    this.#resumeAt = resumeAt
  }

  /** Starts a request. Resolves with its result or with an input_required result. */
  begin(request: ProxiedRequest, send: Send<object>): Promise<object> {
    return this.#next(new SuspendedRequest(request, send), request)
  }

  async resume(request: ProxiedRequest, state: string, answers: Readonly<Record<string, unknown>>): Promise<object> {
    const [replica, id = ''] = (this.#cipher.decrypt(state.slice(prefix.length), ownerOf(request)) ?? '').split('/')
    if (id !== '' && replica !== undefined && replica !== this.#replica) {
      const resumed = this.#resumeAt(replica, request)
      if (resumed === undefined) throw otherReplica()
      return resumed
    }
    const pending = this.#pending.get(id)
    if (pending === undefined || pending.suspended.owner !== ownerOf(request)) throw unknownState()
    this.#pending.delete(id)
    pending.forget()
    pending.suspended.answer(answers, pending.keys)
    return this.#next(pending.suspended, request)
  }

  close(): void {
    for (const { suspended, forget } of this.#pending.values()) {
      forget()
      suspended.end(new Error('The gateway is shutting down.'))
    }
    this.#pending.clear()
  }

  async #next(suspended: SuspendedRequest, request: ProxiedRequest): Promise<object> {
    const next = await suspended.next(request)
    if ('result' in next) return next.result
    if (!this.#hasRoomFor(suspended)) {
      suspended.refuse('Too many requests are waiting for answers. Try again later.')
      return this.#next(suspended, request)
    }
    const id = randomUUID()
    const state = `${prefix}${this.#cipher.encrypt(`${this.#replica}/${id}`, suspended.owner)}`
    const expire = (): void => {
      this.#pending.delete(id)
      suspended.end(new Error('The client did not answer in time.'))
    }
    this.#pending.set(id, {
      suspended,
      keys: Object.keys(next.questions),
      forget: this.#clock.after(answerTimeoutMs, expire, true),
    })
    return { resultType: 'input_required', inputRequests: next.questions, requestState: state } satisfies InputRequiredResult
  }

  #hasRoomFor({ client }: SuspendedRequest): boolean {
    const own = [...this.#pending.values()].filter(({ suspended }) => suspended.client === client)
    return this.#pending.size < maxPending && own.length < maxPerClient
  }
}

function otherReplica(): ProtocolError {
  const problem = 'the pending request is at another replica of the gateway'
  const message =
    'The request that waits for these answers is at another replica of the gateway, which cannot be reached from here. Send the same request again, or start again without requestState.'
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: 'invalid_params', problem })
}

export function unknownState(): ProtocolError {
  const problem = 'no pending request for this requestState'
  const message =
    'No pending request for these answers: it expired, was already answered, or belongs to another request. Start again without requestState.'
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: 'invalid_params', problem })
}
