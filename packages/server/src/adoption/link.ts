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

/** What the SDK's version 1 wants of a transport. */
interface Wire {
  readonly sessionId?: string
  start(): Promise<void>
  send(message: JSONRPCMessage, options?: { readonly relatedRequestId?: RequestId }): Promise<void>
  close(): Promise<void>
  onclose?: () => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtra) => void
}

/** What a message brings along for whoever handles it. */
export interface MessageExtra {
  readonly authInfo?: AuthInfo
  readonly requestInfo?: { readonly headers: { readonly [name: string]: string }; readonly url: URL }
}

interface Waiting {
  readonly ctx: ServerContext | undefined
  resolve(result: unknown): void
  reject(error: ProtocolError): void
}

interface Asking {
  /** The request of a client that is being answered. */
  readonly ctx?: ServerContext | undefined
  readonly signal?: AbortSignal
  readonly extra?: MessageExtra
}

/** An in-memory connection to a server of the session era, whose client we are. */
export class Link {
  readonly wire: Wire
  /** Hears what the server tells, and in the course of which request. */
  onnotification: (notification: JSONRPCNotification, about: ServerContext | undefined) => void = () => undefined
  /** Answers what the server asks of its client. */
  onrequest: (request: JSONRPCRequest, about: ServerContext | undefined, signal: AbortSignal) => Promise<unknown> = async () => {
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'There is no client to ask.')
  }
  onclose: () => void = () => undefined
  readonly #waiting = new Map<RequestId, Waiting>()
  readonly #asked = new Map<RequestId, AbortController>()
  #lastId = 0
  #isOpen = true

  constructor(sessionId: string | undefined) {
    this.wire = {
      ...(sessionId !== undefined && { sessionId }),
      start: async () => undefined,
      send: async (message, options) => this.#receive(message, options?.relatedRequestId),
      close: () => this.close(),
    }
  }

  /** The client's request that is being answered, when there is just one. */
  get current(): ServerContext | undefined {
    const contexts = [...this.#waiting.values()].flatMap(({ ctx }) => (ctx === undefined ? [] : [ctx]))
    return contexts.length === 1 ? contexts[0] : undefined
  }

  request(method: string, params: object | undefined, { ctx, signal, extra }: Asking = {}): Promise<unknown> {
    const id = ++this.#lastId
    const cancelled = (): void => {
      this.notify('notifications/cancelled', { requestId: id, reason: String(signal?.reason) })
      this.#waiting.get(id)?.reject(new ProtocolError(ProtocolErrorCode.InternalError, 'The request was cancelled.'))
    }
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { ctx, resolve, reject })
      if (!this.#isOpen) reject(closed())
      else this.#send({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) } as JSONRPCMessage, extra)
    })
    if (signal?.aborted === true) cancelled()
    signal?.addEventListener('abort', cancelled, { once: true })
    return answered.finally(() => {
      signal?.removeEventListener('abort', cancelled)
      this.#waiting.delete(id)
    })
  }

  notify(method: string, params?: object): void {
    this.#send({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) } as JSONRPCMessage)
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    for (const waiting of this.#waiting.values()) waiting.reject(closed())
    for (const asked of this.#asked.values()) asked.abort()
    this.wire.onclose?.()
    this.onclose()
  }

  #send(message: JSONRPCMessage, extra?: MessageExtra): void {
    if (this.#isOpen) this.wire.onmessage?.(message, extra)
  }

  #receive(message: JSONRPCMessage, related: RequestId | undefined): void {
    const about = related === undefined ? undefined : this.#waiting.get(related)?.ctx
    if (!('method' in message)) this.#settle(message)
    else if ('id' in message) void this.#answer(message, about)
    else if (message.method === 'notifications/cancelled') this.#asked.get(message.params?.requestId as RequestId)?.abort()
    else this.onnotification(message, about)
  }

  #settle(response: Exclude<JSONRPCMessage, JSONRPCRequest | JSONRPCNotification>): void {
    const waiting = response.id === undefined ? undefined : this.#waiting.get(response.id)
    if ('result' in response) waiting?.resolve(response.result)
    else waiting?.reject(new ProtocolError(response.error.code, response.error.message, response.error.data))
  }

  async #answer(request: JSONRPCRequest, about: ServerContext | undefined): Promise<void> {
    const { id } = request
    const controller = new AbortController()
    this.#asked.set(id, controller)
    try {
      const result = await this.onrequest(request, about, controller.signal)
      this.#send({ jsonrpc: '2.0', id, result } as JSONRPCMessage)
    } catch (error) {
      const { code, message, data } = error as { code?: unknown; message?: string; data?: unknown }
      const sent = typeof code === 'number' ? code : ProtocolErrorCode.InternalError
      this.#send({ jsonrpc: '2.0', id, error: { code: sent, message: message ?? 'Internal error', data } })
    } finally {
      this.#asked.delete(id)
    }
  }
}

const closed = (): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InternalError, 'The adopted server closed its connection.')
