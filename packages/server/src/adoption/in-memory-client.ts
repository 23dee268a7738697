import {
  type AuthInfo,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type ServerContext,
} from '@modelcontextprotocol/server'

/** Transport interface of the SDK's version 1. */
interface TransportV1 {
  readonly sessionId?: string
  start(): Promise<void>
  send(message: JSONRPCMessage, options?: { readonly relatedRequestId?: RequestId }): Promise<void>
  close(): Promise<void>
  onclose?: () => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtra) => void
}

export interface MessageExtra {
  readonly authInfo?: AuthInfo
  readonly requestInfo?: { readonly headers: { readonly [name: string]: string }; readonly url: URL }
}

interface PendingRequest {
  readonly ctx: ServerContext | undefined
  resolve(result: unknown): void
  reject(error: ProtocolError): void
}

interface RequestOptions {
  /** Client request that this request belongs to. */
  readonly ctx?: ServerContext | undefined
  readonly signal?: AbortSignal
  readonly extra?: MessageExtra
}

/** Client of a session-era server in the same process. */
export class InMemoryClient {
  readonly transport: TransportV1
  /** Called with the client request that the notification belongs to. */
  onnotification: (notification: JSONRPCNotification, related: ServerContext | undefined) => void = () => undefined
  /** Handles requests of the server to its client. */
  onrequest: (request: JSONRPCRequest, related: ServerContext | undefined, signal: AbortSignal) => Promise<unknown> =
    async () => {
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'No client is connected.')
    }
  onclose: () => void = () => undefined
  readonly #pending = new Map<RequestId, PendingRequest>()
  readonly #serverRequests = new Map<RequestId, AbortController>()
  #lastId = 0
  #isOpen = true

  constructor(sessionId: string | undefined) {
    this.transport = {
      ...(sessionId !== undefined && { sessionId }),
      start: async () => undefined,
      send: async (message, options) => this.#receive(message, options?.relatedRequestId),
      close: () => this.close(),
    }
  }

  /** The running client request, if there is exactly one. */
  get current(): ServerContext | undefined {
    const contexts = [...this.#pending.values()].flatMap(({ ctx }) => (ctx === undefined ? [] : [ctx]))
    return contexts.length === 1 ? contexts[0] : undefined
  }

  request(method: string, params: object | undefined, { ctx, signal, extra }: RequestOptions = {}): Promise<unknown> {
    const id = ++this.#lastId
    const cancelled = (): void => {
      this.notify('notifications/cancelled', { requestId: id, reason: String(signal?.reason) })
      this.#pending.get(id)?.reject(new ProtocolError(ProtocolErrorCode.InternalError, 'The request was cancelled.'))
    }
    const response = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { ctx, resolve, reject })
      if (!this.#isOpen) reject(connectionClosed())
      else this.#send({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) } as JSONRPCMessage, extra)
    })
    if (signal?.aborted === true) cancelled()
    signal?.addEventListener('abort', cancelled, { once: true })
    return response.finally(() => {
      signal?.removeEventListener('abort', cancelled)
      this.#pending.delete(id)
    })
  }

  notify(method: string, params?: object): void {
    this.#send({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) } as JSONRPCMessage)
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    for (const pending of this.#pending.values()) pending.reject(connectionClosed())
    for (const controller of this.#serverRequests.values()) controller.abort()
    this.transport.onclose?.()
    this.onclose()
  }

  #send(message: JSONRPCMessage, extra?: MessageExtra): void {
    if (this.#isOpen) this.transport.onmessage?.(message, extra)
  }

  #receive(message: JSONRPCMessage, relatedId: RequestId | undefined): void {
    const related = relatedId === undefined ? undefined : this.#pending.get(relatedId)?.ctx
    if (!('method' in message)) this.#settle(message)
    else if ('id' in message) void this.#handleRequest(message, related)
    else if (message.method === 'notifications/cancelled')
      this.#serverRequests.get(message.params?.requestId as RequestId)?.abort()
    else this.onnotification(message, related)
  }

  #settle(response: Exclude<JSONRPCMessage, JSONRPCRequest | JSONRPCNotification>): void {
    const pending = response.id === undefined ? undefined : this.#pending.get(response.id)
    if ('result' in response) pending?.resolve(response.result)
    else pending?.reject(new ProtocolError(response.error.code, response.error.message, response.error.data))
  }

  async #handleRequest(request: JSONRPCRequest, related: ServerContext | undefined): Promise<void> {
    const { id } = request
    const controller = new AbortController()
    this.#serverRequests.set(id, controller)
    try {
      const result = await this.onrequest(request, related, controller.signal)
      this.#send({ jsonrpc: '2.0', id, result } as JSONRPCMessage)
    } catch (error) {
      const { code, message, data } = error as { code?: unknown; message?: string; data?: unknown }
      const errorCode = typeof code === 'number' ? code : ProtocolErrorCode.InternalError
      this.#send({ jsonrpc: '2.0', id, error: { code: errorCode, message: message ?? 'Internal error', data } })
    } finally {
      this.#serverRequests.delete(id)
    }
  }
}

const connectionClosed = (): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InternalError, 'The adopted server closed its connection.')
