import { Failure, printable, reasons } from '@unfold-mcp/core'
import type { BufferedReply } from './exchange.ts'

/** Returns the id of a request for an error response; `null` if it has no valid one. */
export function requestIdOf(body: unknown): string | number | null {
  if (typeof body !== 'object' || body === null || !('id' in body) || !('method' in body)) return null
  const { id } = body
  // 9007199254740993 is parsed as 9007199254740992, which may be the id of another request.
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null
}

export function errorReply(
  status: number,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  { id = null, headers = {} }: { id?: string | number | null; headers?: { readonly [name: string]: string } } = {},
): BufferedReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    parts: [JSON.stringify({ jsonrpc: '2.0', error, id })],
  }
}

export function failureReply(
  status: number,
  failure: Failure,
  options: { id?: string | number | null; headers?: { readonly [name: string]: string }; code?: number } = {},
): BufferedReply {
  const code = options.code ?? (reasons[failure.reason] === 'operator' ? -32603 : -32602)
  return errorReply(status, { code, message: failure.message, data: { reason: failure.reason, ...failure.details } }, options)
}

export const requestFormatHint =
  'Send an object with "jsonrpc": "2.0", a "method", an "id" that is a string or an integer up to ±9007199254740991, and optional "params" that are an object.'

export function duplicateId(id: string | number): Failure<'duplicate_id'> {
  const shown = typeof id === 'string' ? printable(id) : id
  const message = `Request id ${JSON.stringify(shown)} is already in use by a running request. Use a unique id for each request.`
  return new Failure('duplicate_id', message, { id: shown })
}
