import { type InputRequests, type InputRequiredResult, isInputRequiredResult, ProtocolError } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import { isClientError, type Relay } from '@unfold-mcp/client'
import { jsonSize } from '../base/json-size.ts'
import { TokenBucket } from '../base/token-bucket.ts'
import { UpstreamError } from '../upstreams/errors.ts'
import {
  askableCapabilities,
  askSession,
  clientInputRequests,
  logLevelOf,
  logTo,
  ownerOf,
  type ProxiedRequest,
} from './proxied-request.ts'
import { StateCipher } from './state-cipher.ts'
import { isSuspended, type Send, SuspendedRequests, unknownState } from './suspended-request.ts'

const urlElicitationRequired = -32_042
const missingCapability = -32_021
const maxStateLength = 65_536
const maxQuestions = 16
// In characters. A client gets what is sent faster or longer only in part, or it would all be kept for one that reads slowly.
const mostSaid = { capacity: 1_048_576, refill: 262_144, everyMs: 1_000 }
const leastSaid = 1_024

/**
 * Requests of clients on their way to servers and back. Whatever era each of the two speaks, what the server asks meanwhile
 * reaches the client that made the request and nobody else, or is refused.
 */
export class Exchanges {
  readonly #suspended: SuspendedRequests
  readonly #cipher = new StateCipher()

  constructor(clock: Clock) {
    this.#suspended = new SuspendedRequests(clock)
  }

  /** Has `run` ask the server. What comes back is its result, or what the client has to say first. */
  run<T extends object>(request: ProxiedRequest, send: Send<T | InputRequiredResult>): Promise<T | InputRequiredResult> {
    if (!isRetry(request) && canRunDirect(request)) return this.#runDirect<T>(request, send, undefined)
    return this.#runWithAnswers<T>(request, send)
  }

  close(): void {
    this.#suspended.close()
  }

  #runDirect<T extends object>(
    request: ProxiedRequest,
    send: Send<T | InputRequiredResult>,
    answers: Relay['answers'],
  ): Promise<T | InputRequiredResult> {
    const relay = new StreamRelay(request, answers)
    return this.#settle<T>(request, send(relay, { signal: request.signal, onProgress: relay.onProgress }))
  }

  /** The same for a request that the client may have made before, and comes back to with what it was request. */
  async #runWithAnswers<T extends object>(
    request: ProxiedRequest,
    send: Send<T | InputRequiredResult>,
  ): Promise<T | InputRequiredResult> {
    const { inputResponses, requestState: state } = request
    if (state !== undefined && isSuspended(state))
      return this.#settle<T>(request, this.#suspended.resume(request, state, inputResponses ?? {}))
    const requestState = state === undefined ? undefined : this.#cipher.decrypt(state, ownerOf(request))
    if (state !== undefined && requestState === undefined) throw unknownState()
    const answers = isRetry(request) ? answersOf(inputResponses, requestState) : undefined
    if (request.era === 'session') return this.#runDirect<T>(request, send, answers)
    const sent = new OutputLimit()
    const withAnswers: Send<T | InputRequiredResult> = (relay, { signal, onProgress }) =>
      send({ ...relay, onLog: bounded(sent, relay.onLog), answers }, { signal, onProgress: bounded(sent, onProgress) })
    return this.#settle<T>(request, this.#suspended.begin(request, withAnswers))
  }

  async #settle<T extends object>(request: ProxiedRequest, running: Promise<object>): Promise<T | InputRequiredResult> {
    let result: object
    try {
      result = await running
    } catch (error) {
      result = this.#urlElicitation(request, error)
    }
    // What is held here was request in the client's own words already.
    if (!isInputRequiredResult(result) || isSuspended(result.requestState ?? '')) return result as T
    const { inputRequests, requestState } = result
    if (requestState !== undefined && requestState.length > maxStateLength)
      throw this.#refused(request, 'wants to be told more with the answers than can be kept.')
    if (Object.keys(inputRequests ?? {}).length > maxQuestions) throw this.#refused(request, 'has too many questions.')
    return {
      resultType: 'input_required',
      ...(inputRequests !== undefined && { inputRequests: this.#questions(request, inputRequests) }),
      ...(requestState !== undefined && { requestState: this.#cipher.encrypt(requestState, ownerOf(request)) }),
    }
  }

  #questions(request: ProxiedRequest, requested: InputRequests): InputRequests {
    try {
      return clientInputRequests(request, requested)
    } catch (error) {
      throw this.#refused(request, `asks for what cannot be passed on. ${error instanceof Error ? error.message : ''}`)
    }
  }

  #refused({ server }: ProxiedRequest, message: string): UpstreamError {
    return new UpstreamError(server, 'refused', message)
  }

  /** A session-era server may refuse until somebody has visited an address; in the other era that is a question like others. */
  #urlElicitation(request: ProxiedRequest, error: unknown): InputRequiredResult {
    const { era } = request
    const cause = error instanceof UpstreamError ? error.cause : undefined
    if (!isClientError(cause, 'protocol')) throw error
    const { problem, data, code } = cause.details
    // It was told what the client can do, so what it misses is for the client to know.
    if (code === missingCapability && era === 'stateless') throw new ProtocolError(missingCapability, problem, data)
    if (code !== urlElicitationRequired) throw error
    const inputRequests = urlElicitations(data)
    const count = Object.keys(inputRequests).length
    if (count === 0 || count > maxQuestions) throw error
    if (era === 'stateless') return { resultType: 'input_required', inputRequests }
    const elicitations = Object.values(this.#questions(request, inputRequests)).map(({ params }) => params)
    throw new ProtocolError(urlElicitationRequired, problem, { elicitations })
  }
}

/** The addresses that a server wants to be visited, as questions: those that are some, whatever else it sent. */
function urlElicitations(data: unknown): InputRequests {
  const wanted: unknown = (data as { readonly elicitations?: unknown } | null | undefined)?.elicitations
  const visits = (Array.isArray(wanted) ? wanted : []).flatMap((each: unknown) => {
    const { url, message, elicitationId } = (each ?? {}) as { readonly [key: string]: unknown }
    if (typeof url !== 'string' || typeof message !== 'string') return []
    return [{ mode: 'url' as const, url, message, ...(typeof elicitationId === 'string' && { elicitationId }) }]
  })
  const inputRequests = visits.map((params, index) => [`${index + 1}`, { method: 'elicitation/create', params }] as const)
  return Object.fromEntries(inputRequests) as InputRequests
}

/** Whether nothing needs to be kept for a client that comes back: it is request over the stream of its request, or never. */
const canRunDirect = (request: ProxiedRequest): boolean =>
  request.era === 'session' || Object.keys(askableCapabilities(request)).length === 0

/** Whether the client made the request before, and comes with answers. */
const isRetry = ({ inputResponses, requestState }: ProxiedRequest): boolean =>
  inputResponses !== undefined || requestState !== undefined

const answersOf = (inputResponses: unknown, requestState: string | undefined): Relay['answers'] => ({
  ...(inputResponses !== undefined && { inputResponses }),
  ...(requestState !== undefined && { requestState }),
})

/** How much was sent during one request. */
class OutputLimit {
  readonly #bucket = new TokenBucket(mostSaid)

  tryTake(what: unknown): boolean {
    return this.#bucket.tryTake(Math.max(leastSaid, jsonSize(what, mostSaid.capacity)))
  }
}

const bounded =
  <T>(sent: OutputLimit, tell: (what: T) => void) =>
  (what: T): void => {
    if (sent.tryTake(what)) tell(what)
  }

/** Passes what a server asks and says on to a client over the stream of its request. What most requests have no use for is made when it is request for. */
class StreamRelay implements Relay {
  readonly answers: Relay['answers']
  readonly #request: ProxiedRequest
  #sent: OutputLimit | undefined

  constructor(request: ProxiedRequest, answers: Relay['answers']) {
    this.#request = request
    this.answers = answers
  }

  get capabilities(): Relay['capabilities'] {
    return askableCapabilities(this.#request)
  }

  get logLevel(): Relay['logLevel'] {
    return logLevelOf(this.#request)
  }

  ask(...[requested, signal]: Parameters<Relay['ask']>): ReturnType<Relay['ask']> {
    return askSession(this.#request, requested, signal)
  }

  onLog(entry: Parameters<Relay['onLog']>[0]): void {
    if (this.#tryTake(entry)) logTo(this.#request)(entry)
  }

  readonly onProgress: Parameters<Send<object>>[1]['onProgress'] = (report) => {
    if (!this.#tryTake(report)) return
    const { progress, total, message } = report
    this.#request.progress(progress, total, message).catch(() => undefined)
  }

  #tryTake(what: unknown): boolean {
    this.#sent ??= new OutputLimit()
    return this.#sent.tryTake(what)
  }
}
