import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'
import type { ClientError } from '../errors/errors.ts'

/** The requests that were sent and are not answered, so that each can be told why no answer will come. */
export class Unanswered {
  readonly #ids = new Set<RequestId>()

  get ids(): readonly RequestId[] {
    return [...this.#ids]
  }

  get count(): number {
    return this.#ids.size
  }

  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) this.#ids.add(message.id)
    // Nobody waits for what was called off.
    else if (message.method === 'notifications/cancelled') this.#forget(message.params?.requestId)
  }

  answered(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#ids.delete(message.id)
  }

  #forget(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#ids.delete(id)
  }

  /** What to hand on in place of the answer to `id`; `undefined` when it was answered. */
  failed(id: RequestId, error: ClientError): JSONRPCMessage | undefined {
    if (!this.#ids.delete(id)) return undefined
    // Never leaves this process: the error travels as it is, and is taken out again by whoever waits.
    return { jsonrpc: '2.0', id, error: { code: -32_000, message: error.message, data: error } }
  }
}

/** The request that a message answers with neither a result nor an error that can be read; the SDK would let it wait on. */
export function answeredBadly(message: JSONRPCMessage): RequestId | undefined {
  if ('method' in message || message.id === undefined) return undefined
  const { result, error } = message as { readonly result?: unknown; readonly error?: unknown }
  const isError = isRecord(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string'
  return isRecord(result) || isError ? undefined : message.id
}
