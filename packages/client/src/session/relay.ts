import { AsyncLocalStorage } from 'node:async_hooks'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type CreateMessageRequest,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type ElicitRequest,
  type ElicitResult,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type LoggingMessageNotificationParams,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/client'

/** Request that a server sends while it handles a request of the client. */
export type ServerRequest = ElicitRequest | CreateMessageRequest

export type ClientResult = ElicitResult | CreateMessageResult | CreateMessageResultWithTools

/** Client that a request is made for; receives the requests and log messages that the server sends meanwhile. */
export interface Relay {
  /** Its capabilities, sent with every request in 2026-07-28. */
  readonly capabilities: ClientCapabilities
  /** Its log level, sent with every request in 2026-07-28. */
  readonly logLevel?: LoggingLevel | undefined
  /** Handles a request of a session-era server. The signal is aborted when the server no longer waits. */
  readonly onRequest: (request: ServerRequest, signal: AbortSignal) => Promise<ClientResult>
  readonly onLog: (entry: LoggingMessageNotificationParams) => void
  /** Responses to an `input_required` result, and its `requestState`. */
  readonly inputs?: { readonly inputResponses?: unknown; readonly requestState?: string } | undefined
}

const maxOpenRequests = 16

/** Request in progress for another client. */
export class RelayedRequest {
  readonly #relay: Relay
  // Created on demand; most requests cause none.
  #ended: AbortController | undefined
  #open = 0

  constructor(relay: Relay) {
    this.#relay = relay
  }

  /** True while that client is being asked; timeouts are suspended. */
  get isWaitingForUser(): boolean {
    return this.#open > 0
  }

  async forward(request: ServerRequest, signal: AbortSignal): Promise<ClientResult> {
    if (this.#open >= maxOpenRequests)
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `More than ${maxOpenRequests} requests are open for one call.`)
    this.#open++
    this.#ended ??= new AbortController()
    try {
      return await this.#relay.onRequest(request, AbortSignal.any([signal, this.#ended.signal]))
    } finally {
      this.#open--
    }
  }

  log(entry: LoggingMessageNotificationParams): void {
    this.#relay.onLog(entry)
  }

  end(): void {
    this.#ended?.abort()
  }
}

const refusals = {
  none: 'No request is in progress, so there is no client to ask.',
  ambiguous: 'Several requests are in progress, and this request does not tell which one it belongs to. Retry when only one is.',
} as const

/**
 * Requests in progress for other clients in one session. A message of the server belongs to the request whose stream it arrives
 * on; without one stream per request it can only be assigned while a single request is in progress.
 */
export class RelayedRequests {
  // Before Node 24 AsyncLocalStorage slows down every promise of the process, so it is created only where it helps.
  readonly #stream: AsyncLocalStorage<RelayedRequest> | undefined
  readonly #open = new Set<RelayedRequest>()

  /** `hasStreams`: each request has its own stream. */
  constructor({ hasStreams }: { readonly hasStreams: boolean }) {
    this.#stream = hasStreams ? new AsyncLocalStorage() : undefined
  }

  /** Runs `work`, which sends one request and waits for the response. */
  async run<T>(relayed: RelayedRequest | undefined, work: () => Promise<T>): Promise<T> {
    if (relayed === undefined) return work()
    this.enter(relayed)
    try {
      return await (this.#stream === undefined ? work() : this.#stream.run(relayed, work))
    } finally {
      this.leave(relayed)
    }
  }

  /** Registers a request without its own stream. */
  enter(relayed: RelayedRequest | undefined): void {
    if (relayed !== undefined) this.#open.add(relayed)
  }

  leave(relayed: RelayedRequest | undefined): void {
    if (relayed === undefined) return
    this.#open.delete(relayed)
    relayed.end()
  }

  async forward(request: ServerRequest, signal: AbortSignal): Promise<ClientResult> {
    const current = this.#current()
    if (typeof current === 'string') throw new ProtocolError(ProtocolErrorCode.InvalidRequest, refusals[current])
    return current.forward(request, signal)
  }

  log(entry: LoggingMessageNotificationParams): void {
    const current = this.#current()
    if (typeof current !== 'string') current.log(entry)
  }

  #current(): RelayedRequest | 'none' | 'ambiguous' {
    const known = this.#stream?.getStore()
    if (known !== undefined) return this.#open.has(known) ? known : 'none'
    const [first, second] = this.#open
    return second === undefined ? (first ?? 'none') : 'ambiguous'
  }
}

/** Parameters that carry the other client's capabilities and inputs in a 2026-07-28 request. */
export function relayParams({ capabilities, logLevel, inputs }: Relay): Record<string, unknown> {
  return {
    ...(inputs?.inputResponses !== undefined && { inputResponses: inputs.inputResponses }),
    ...(inputs?.requestState !== undefined && { requestState: inputs.requestState }),
    _meta: {
      [CLIENT_CAPABILITIES_META_KEY]: capabilities,
      ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
    },
  }
}
