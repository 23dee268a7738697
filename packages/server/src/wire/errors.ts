import { Failure, printable, reasons } from '@unfold-mcp/core'
import type { WholeReply } from './exchange.ts'

/** The id to answer an error with: that of the request, where it can be read. */
export function idOf(body: unknown): string | number | null {
  if (typeof body !== 'object' || body === null || !('id' in body) || !('method' in body)) return null
  return typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null
}

/** A JSON-RPC error over HTTP. */
export function errorReply(
  status: number,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  { id = null, headers = {} }: { id?: string | number | null; headers?: { readonly [name: string]: string } } = {},
): WholeReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    parts: [JSON.stringify({ jsonrpc: '2.0', error, id })],
  }
}

/** A failure over HTTP, with its reason as data. */
export function failureReply(
  status: number,
  failure: Failure,
  options: { id?: string | number | null; headers?: { readonly [name: string]: string }; code?: number } = {},
): WholeReply {
  const code = options.code ?? (reasons[failure.reason] === 'operator' ? -32603 : -32602)
  return errorReply(status, { code, message: failure.message, data: { reason: failure.reason, ...failure.details } }, options)
}

/** What to send instead of something that is no message. */
export const wellFormed =
  'Send one object with "jsonrpc": "2.0", a "method", an "id" that is text or a whole number, and "params", if any, that are an object.'

/** The failure for a request whose id another one has that is still being answered. */
export function duplicateId(id: string | number): Failure<'duplicate_id'> {
  const shown = typeof id === 'string' ? printable(id) : id
  return new Failure(
    'duplicate_id',
    `A request with the id ${JSON.stringify(shown)} is still being answered. Give each an id of its own.`,
    {
      id: shown,
    },
  )
}
