import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'
import type { ClientError } from '../errors/errors.ts'

/** Requests without a response yet, so that each can fail when none will come. */
export class PendingRequests {
  readonly #ids = new Set<RequestId>()

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
    else if (message.method === 'notifications/cancelled') this.#remove(message.params?.requestId)
  }

  settle(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#ids.delete(message.id)
  }

  #remove(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#ids.delete(id)
  }

  /** Returns an error response for `id`; `undefined` if it was answered. */
  failureResponse(id: RequestId, error: ClientError): JSONRPCMessage | undefined {
    if (!this.#ids.delete(id)) return undefined
    // Never leaves this process: the caller takes the error out of `data`.
    return { jsonrpc: '2.0', id, error: { code: -32_000, message: error.message, data: error } }
  }
}

/** Returns the id of a response with neither a valid result nor a valid error, which the SDK would ignore. */
export function malformedResponseId(message: JSONRPCMessage): RequestId | undefined {
  if ('method' in message || message.id === undefined) return undefined
  const { result, error } = message as { readonly result?: unknown; readonly error?: unknown }
  const isError = isRecord(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string'
  return isRecord(result) || isError ? undefined : message.id
}
