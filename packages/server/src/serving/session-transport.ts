import {
  type HandleRequestOptions,
  isJSONRPCNotification,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { Answer } from './answer.ts'
import { idOf } from './errors.ts'
import type { Reply } from './exchange.ts'

/**
 * The SDK's transport for one session, which knows what is being answered. The SDK sends the answer to one of two requests
 * with the same id to the other, and leaves the stream of a request that was cancelled open for good.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  /** Requests without an answer yet, each with all that came in the same body and share its stream. */
  readonly #answering = new Map<RequestId, readonly RequestId[]>()
  /** The answers to those that are not left to the SDK. */
  readonly #answers = new Map<RequestId, Answer>()

  /** An id in this body that another request has. */
  taken(body: unknown): RequestId | undefined {
    const ids = requestIds(body)
    return ids.find((id, index) => this.#answering.has(id) || ids.indexOf(id) !== index)
  }

  async handle(request: Request, body: unknown, options: HandleRequestOptions): Promise<Response> {
    const ids = requestIds(body)
    for (const id of ids) this.#answering.set(id, ids)
    const response = await this.handleRequest(request, options)
    if (!response.ok) for (const id of ids) this.#answering.delete(id)
    for (const id of cancelledIds(body)) this.#answered(id)
    return response
  }

  /** The answer to a request that was found to be in order. The SDK would open a stream for it even where one event is all. */
  ask(message: JSONRPCRequest, { request, authInfo }: HandleRequestOptions & { readonly request: Request }): Promise<Reply> {
    const { id } = message
    const answer = new Answer(this.sessionId ?? '', request.signal)
    this.#answering.set(id, [id])
    this.#answers.set(id, answer)
    this.onmessage?.(message, { request, ...(authInfo !== undefined && { authInfo }) })
    return answer.reply
  }

  override async send(...[message, options]: Parameters<WebStandardStreamableHTTPServerTransport['send']>): Promise<void> {
    const isResult = !('method' in message)
    const id = isResult ? message.id : options?.relatedRequestId
    const answer = id === undefined ? undefined : this.#answers.get(id)
    try {
      if (answer === undefined) await super.send(message, options)
      else if (isResult) answer.end(message)
      else answer.send(message)
    } finally {
      if (isResult && id !== undefined) this.#answered(id)
    }
  }

  override async close(): Promise<void> {
    for (const answer of this.#answers.values()) answer.end()
    await super.close()
  }

  #answered(id: RequestId): void {
    const together = this.#answering.get(id)
    if (together === undefined) return
    this.#answering.delete(id)
    this.#answers.get(id)?.end()
    this.#answers.delete(id)
    if (!together.some((each) => this.#answering.has(each))) this.closeSSEStream(id)
  }
}

const messagesIn = (body: unknown): readonly unknown[] => (Array.isArray(body) ? body : [body])

const requestIds = (body: unknown): readonly RequestId[] => messagesIn(body).flatMap((message) => idOf(message) ?? [])

const cancelledIds = (body: unknown): readonly RequestId[] =>
  messagesIn(body).flatMap((message) => (isCancellation(message) ? [message.params?.requestId as RequestId] : []))

// Its method is looked at first: the SDK takes its time to find that a message is no notification.
const isCancellation = (message: unknown): message is JSONRPCNotification =>
  typeof message === 'object' &&
  message !== null &&
  'method' in message &&
  message.method === 'notifications/cancelled' &&
  isJSONRPCNotification(message)
