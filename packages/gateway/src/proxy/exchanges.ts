import { type InputRequests, type InputRequiredResult, isInputRequiredResult, ProtocolError } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import { isClientError, type Relay } from '@unfold-mcp/client'
import { jsonSize } from '../base/json-size.ts'
import type { Replica } from '../base/replica.ts'
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
import { RequestStateCipher } from './request-state-cipher.ts'
import { isSuspended, type Send, type SuspendedOptions, SuspendedRequests, unknownState } from './suspended-request.ts'

const urlElicitationRequired = -32_042
const missingCapability = -32_021
const maxStateLength = 65_536
const maxQuestions = 16
// In characters. Output beyond this rate is dropped; otherwise it would be buffered for slow clients.
const mostSaid = { capacity: 1_048_576, refill: 262_144, everyMs: 1_000 }
const leastSaid = 1_024

export interface ExchangesOptions extends Pick<SuspendedOptions, 'resumeAt'> {
  /** Set if there are several replicas. */
  readonly replica?: Replica | undefined
}

/**
 * Forwards client requests to servers across protocol eras. Server-initiated requests reach only the client that made the original
 * request, or are rejected.
 */
export class Exchanges {
  readonly #suspended: SuspendedRequests
  readonly #cipher: RequestStateCipher

  constructor(clock: Clock, { replica, resumeAt }: ExchangesOptions = {}) {
    this.#cipher = new RequestStateCipher(replica?.stateKey)
    this.#suspended = new SuspendedRequests(clock, { cipher: this.#cipher, replica: replica?.id, resumeAt })
  }

  /** Sends a request to the server. Returns its result, or the input that the client has to provide first. */
  run<T extends object>(request: ProxiedRequest, send: Send<T | InputRequiredResult>): Promise<T | InputRequiredResult> {
    if (!isRetry(request) && canRunDirect(request)) return this.#runDirect<T>(request, send, undefined)
    return this.#runWithInputs<T>(request, send)
  }

  close(): void {
    this.#suspended.close()
  }

  #runDirect<T extends object>(
    request: ProxiedRequest,
    send: Send<T | InputRequiredResult>,
    inputs: Relay['inputs'],
  ): Promise<T | InputRequiredResult> {
    const relay = new StreamRelay(request, inputs)
    return this.#settle<T>(request, send(relay, { signal: request.signal, onProgress: relay.onProgress }))
  }

  /** Runs a request that may be suspended, or that the client retries with its inputs. */
  async #runWithInputs<T extends object>(
    request: ProxiedRequest,
    send: Send<T | InputRequiredResult>,
  ): Promise<T | InputRequiredResult> {
    const { inputResponses, requestState: state } = request
    if (state !== undefined && isSuspended(state))
      return this.#settle<T>(request, this.#suspended.resume(request, state, inputResponses ?? {}))
    const requestState = state === undefined ? undefined : this.#cipher.decrypt(state, ownerOf(request))
    if (state !== undefined && requestState === undefined) throw unknownState()
    const inputs = isRetry(request) ? inputsOf(inputResponses, requestState) : undefined
    if (request.era === 'session') return this.#runDirect<T>(request, send, inputs)
    const sent = new OutputLimit()
    const withInputs: Send<T | InputRequiredResult> = (relay, { signal, onProgress }) =>
      send({ ...relay, onLog: bounded(sent, relay.onLog), inputs }, { signal, onProgress: bounded(sent, onProgress) })
    return this.#settle<T>(request, this.#suspended.begin(request, withInputs))
  }

  async #settle<T extends object>(request: ProxiedRequest, running: Promise<object>): Promise<T | InputRequiredResult> {
    let result: object
    try {
      result = await running
    } catch (error) {
      result = this.#urlElicitation(request, error)
    }
    // The input requests of a suspended request are already translated.
    if (!isInputRequiredResult(result) || isSuspended(result.requestState ?? '')) return result as T
    const { inputRequests, requestState } = result
    if (requestState !== undefined && requestState.length > maxStateLength)
      throw this.#refused(request, `sent a requestState of more than ${maxStateLength} characters.`)
    if (Object.keys(inputRequests ?? {}).length > maxQuestions)
      throw this.#refused(request, `sent more than ${maxQuestions} input requests.`)
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
      throw this.#refused(
        request,
        `sent an input request that cannot be forwarded. ${error instanceof Error ? error.message : ''}`,
      )
    }
  }

  #refused({ server }: ProxiedRequest, message: string): UpstreamError {
    return new UpstreamError(server, 'refused', message)
  }

  /** Translates the session-era error "URL elicitation required" to an input request for stateless clients. */
  #urlElicitation(request: ProxiedRequest, error: unknown): InputRequiredResult {
    const { era } = request
    const cause = error instanceof UpstreamError ? error.cause : undefined
    if (!isClientError(cause, 'protocol')) throw error
    const { problem, data, code } = cause.details
    // The server knows the client's capabilities, so the error is meant for the client.
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

/** Extracts the valid URL elicitations from error data. */
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

/** True if no state is needed: the client is asked on the stream of its request, or never. */
const canRunDirect = (request: ProxiedRequest): boolean =>
  request.era === 'session' || Object.keys(askableCapabilities(request)).length === 0

/** True if the client retries a request with inputs. */
const isRetry = ({ inputResponses, requestState }: ProxiedRequest): boolean =>
  inputResponses !== undefined || requestState !== undefined

const inputsOf = (inputResponses: unknown, requestState: string | undefined): Relay['inputs'] => ({
  ...(inputResponses !== undefined && { inputResponses }),
  ...(requestState !== undefined && { requestState }),
})

/** Limits logging and progress of one request. */
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

/** Relays server-initiated requests, logging and progress on the stream of the request. Getters, because most requests need none. */
class StreamRelay implements Relay {
  readonly inputs: Relay['inputs']
  readonly #request: ProxiedRequest
  #sent: OutputLimit | undefined

  constructor(request: ProxiedRequest, inputs: Relay['inputs']) {
    this.#request = request
    this.inputs = inputs
  }

  get capabilities(): Relay['capabilities'] {
    return askableCapabilities(this.#request)
  }

  get logLevel(): Relay['logLevel'] {
    return logLevelOf(this.#request)
  }

  onRequest(...[requested, signal]: Parameters<Relay['onRequest']>): ReturnType<Relay['onRequest']> {
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
