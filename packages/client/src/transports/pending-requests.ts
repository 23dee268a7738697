import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'
import type { ClientError } from '../errors/errors.ts'

const maxEnded = 1_000

/** Requests without a response yet, so that each can fail when none will come; and those that ended without one. */
export class PendingRequests {
  readonly #ids = new Set<RequestId>()
  /** Timed out, cancelled or failed: their responses may still arrive. */
  readonly #ended = new Set<RequestId>()

  get ids(): readonly RequestId[] {
    return [...this.#ids]
  }

  get count(): number {
    return this.#ids.size
  }

  track(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) this.#ids.add(message.id)
    // A cancelled request gets no response.
    else if (message.method === 'notifications/cancelled') this.end(message.params?.requestId)
  }

  /** Returns whether the message is of interest: false for the response to a request that has ended. */
  receive(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) return true
    const { id } = message
    if (this.#ids.delete(id)) return true
    // The SDK accepts a number sent back as a string.
    const number = Number(id)
    return this.#ids.delete(number) || !(this.#ended.delete(id) || this.#ended.delete(number))
  }

  /** Drops the response to a request if it arrives. */
  end(id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return
    this.#ids.delete(id)
    this.#ended.add(id)
    if (this.#ended.size <= maxEnded) return
    const [oldest] = this.#ended
    if (oldest !== undefined) this.#ended.delete(oldest)
  }

  /** Returns an error response for `id`; `undefined` if it was answered. */
  failureResponse(id: RequestId, error: ClientError): JSONRPCMessage | undefined {
    if (!this.#ids.has(id)) return undefined
    this.end(id)
    // Never leaves this process: the caller takes the error out of `data`.
    return { jsonrpc: '2.0', id, error: { code: -32_000, message: error.message, data: error } }
  }
}

/** What is wrong with a response that is neither a valid result nor a valid error, which the SDK would ignore. */
export function malformedResponse(message: JSONRPCMessage): { readonly id: RequestId; readonly problem: string } | undefined {
  if ('method' in message || message.id === undefined) return undefined
  const { result, error } = message as { readonly result?: unknown; readonly error?: unknown }
  if (result !== undefined && error !== undefined && result !== null && error !== null)
    return { id: message.id, problem: 'both a result and an error' }
  const isError = isRecord(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string'
  return isRecord(result) || isError ? undefined : { id: message.id, problem: 'neither a result object nor an error' }
}
