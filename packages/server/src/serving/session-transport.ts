import {
  type HandleRequestOptions,
  isJSONRPCNotification,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { cancellation } from '../runtime/deadline.ts'
import { Answer } from './answer.ts'
import { idOf } from './errors.ts'
import type { Exchange, Reply } from './exchange.ts'

/** What came of a request: a result or an error, or that it is left to the SDK after all. */
export type Done =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | { readonly left: JSONRPCRequest; readonly with: MessageExtraInfo }

/** Who asked, and for what. */
interface Asker {
  readonly tool: string
  readonly gone: Exchange['gone']
}

/**
 * The SDK's transport for one session, which knows what is being answered. The SDK sends the answer to one of two requests
 * with the same id to the other, and leaves the stream of a request that was cancelled open for good.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  /** Requests without an answer yet, each with all that came in the same body and share its stream. */
  readonly #answering = new Map<RequestId, readonly RequestId[]>()
  /** The answers to those that are not left to the SDK. */
  readonly #answers = new Map<RequestId, Answer>()
  /** What ends the work on those. */
  readonly #endings = new Map<RequestId, { readonly ending: AbortController; readonly tool: string }>()

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

  /**
   * The answer to a request that was found to be in order, by `work` in place of the SDK: it would look at everything again,
   * and open a stream even where one event is all. `work` is told to end through the controller.
   */
  answer(id: RequestId, { tool, gone }: Asker, work: (ending: AbortController) => Promise<Done>): Promise<Reply> {
    const answer = new Answer(this.sessionId ?? '', gone)
    const ending = new AbortController()
    this.#answering.set(id, [id])
    this.#answers.set(id, answer)
    this.#endings.set(id, { ending, tool })
    void work(ending).then((done) => this.#done(id, ending, done))
    return answer.reply
  }

  #done(id: RequestId, ending: AbortController, done: Done): void {
    // One that was cancelled is over already, and another may have its number by now.
    if (this.#endings.get(id)?.ending !== ending) return
    this.#endings.delete(id)
    if ('left' in done) {
      this.onmessage?.(done.left, done.with)
      return
    }
    const message = 'error' in done ? { jsonrpc: '2.0', id, ...done } : { ...done, jsonrpc: '2.0', id }
    this.#answers.get(id)?.end(message as JSONRPCMessage)
    this.#answered(id)
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
    for (const id of [...this.#endings.keys()]) this.#end(id)
    for (const answer of this.#answers.values()) answer.end()
    await super.close()
  }

  #end(id: RequestId): void {
    const found = this.#endings.get(id)
    this.#endings.delete(id)
    found?.ending.abort(cancellation(found.tool))
  }

  #answered(id: RequestId): void {
    const together = this.#answering.get(id)
    if (together === undefined) return
    this.#answering.delete(id)
    this.#end(id)
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
