import { ProtocolError } from '@modelcontextprotocol/server'
import {
  ClientError,
  type ClientErrorDetails,
  type ClientResult,
  type DocumentChange,
  isClientError,
  type LogEntry,
  type Relay,
  type ServerRequest,
} from '@unfold-mcp/client'
import { isRecord, type Tool } from '@unfold-mcp/core'
import * as z from 'zod'
import type { UpstreamCall, UpstreamConnection } from '../../upstreams/connection.ts'
import { UpstreamError, type UpstreamErrorKind } from '../../upstreams/errors.ts'

/** Path of the requests between replicas. */
export const forwardPath = '/cluster/forward'

const record = z.record(z.string(), z.unknown())

const callOptions = z.object({
  timeoutMs: z.number().optional(),
  maxTimeoutMs: z.number().optional(),
  caller: z.array(z.string()).optional(),
  meta: record.optional(),
  /** The client wants progress. */
  progress: z.boolean(),
  relay: z.object({ capabilities: record, logLevel: z.string().optional(), inputs: record.optional() }).optional(),
})

const forwarded = z.discriminatedUnion('kind', [
  /** Opens a stream that lasts as long as the holder's connection to the server. */
  z.object({ kind: z.literal('connect'), peer: z.string() }),
  z.object({ kind: z.literal('tools') }),
  z.object({ kind: z.literal('ping') }),
  z.object({ kind: z.literal('restart') }),
  z.object({ kind: z.literal('subscribe'), peer: z.string(), uri: z.string(), isWanted: z.boolean() }),
  z.object({ kind: z.literal('call'), id: z.string(), tool: z.string(), args: record, options: callOptions }),
  z.object({ kind: z.literal('request'), id: z.string(), method: z.string(), params: record, options: callOptions }),
  /** The client's answer to a question that the server asked during a call. */
  z.object({
    kind: z.literal('answer'),
    id: z.string(),
    question: z.number(),
    result: record.optional(),
    error: record.optional(),
  }),
])

/** A request of a replica to the holder of a server. */
export type Forwarded = z.output<typeof forwarded>

/** A forwarded call, or another request for a client. */
export type ForwardedCall = Extract<Forwarded, { readonly kind: 'call' | 'request' }>

export type ForwardedOptions = ForwardedCall['options']

/** Parses a request; `undefined` if it is invalid, for example from another version. */
export function parseForwarded(body: Uint8Array): Forwarded | undefined {
  return forwarded.safeParse(parseJson(Buffer.from(body).toString('utf8'))).data
}

/** What a replica must know about the connection of the holder. */
export type ConnectionInfo = Pick<UpstreamConnection, 'era' | 'protocolVersion' | 'server' | 'capabilities'> & {
  readonly instructions?: string
}

/** A line of the holder's reply. An empty one shows that it is alive. */
export interface Line {
  readonly connected?: ConnectionInfo
  /** The holder is shutting down: running requests finish, new ones are refused. */
  readonly draining?: true
  /** The tools changed. */
  readonly changed?: true
  readonly document?: DocumentChange | { readonly kind: 'resync' }
  readonly log?: LogEntry
  readonly progress?: Parameters<NonNullable<UpstreamCall['onProgress']>>[0]
  /** The server asks the client. */
  readonly question?: { readonly id: number; readonly request: ServerRequest }
  /** The server no longer waits for the answer. */
  readonly withdrawn?: number
  readonly result?: unknown
  readonly error?: ErrorLine
}

/** Parses a line of a reply, which is the data of a server-sent event. */
export function parseLine(line: Buffer): Line {
  const value = parseJson(line.subarray('data: '.length).toString('utf8'))
  return isRecord(value) ? value : {}
}

export const isTools = (value: unknown): value is readonly Tool[] =>
  Array.isArray(value) && value.every((tool) => isRecord(tool) && typeof tool.name === 'string' && isRecord(tool.inputSchema))

/** The options of a call without its functions. */
export function sentOptions({ timeoutMs, maxTimeoutMs, caller, meta, onProgress, relay }: UpstreamCall): ForwardedOptions {
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxTimeoutMs !== undefined && { maxTimeoutMs }),
    ...(caller !== undefined && { caller: [...caller] }),
    ...(meta !== undefined && { meta: { ...meta } }),
    progress: onProgress !== undefined,
    ...(relay !== undefined && { relay: sentRelay(relay) }),
  }
}

const sentRelay = ({ capabilities, logLevel, inputs }: Relay): ForwardedOptions['relay'] => ({
  capabilities,
  ...(logLevel !== undefined && { logLevel }),
  ...(inputs !== undefined && { inputs: { ...inputs } }),
})

/** A failed call. `protocol`: the error of the server, which clients may get as it is. */
export interface ErrorLine {
  readonly reason: UpstreamErrorKind
  readonly detail: string
  readonly retryAfterMs?: number
  readonly protocol?: { readonly message: string; readonly details: ClientErrorDetails['protocol'] }
}

export function errorLine({ kind, detail, retryAfterMs, cause }: UpstreamError): ErrorLine {
  return {
    reason: kind,
    detail,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(isClientError(cause, 'protocol') && { protocol: { message: cause.message, details: cause.details } }),
  }
}

export function errorOf(server: string, { reason, detail, retryAfterMs, protocol }: ErrorLine): UpstreamError {
  return new UpstreamError(server, reason, detail, {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(protocol !== undefined && { cause: new ClientError('protocol', protocol.message, protocol.details) }),
  })
}

/** The client's answer, or why there is none, as sent to the holder. */
export async function answerOf(answer: Promise<ClientResult>): Promise<{ result: object } | { error: object }> {
  try {
    return { result: await answer }
  } catch (error) {
    const { code, data } = error instanceof ProtocolError ? error : { code: undefined, data: undefined }
    return { error: { code, message: error instanceof Error ? error.message : String(error), data } }
  }
}

export function refusedAnswer({ code, message, data }: Readonly<Record<string, unknown>>): Error {
  const text = typeof message === 'string' ? message : 'The client was not asked.'
  return typeof code === 'number' ? new ProtocolError(code, text, data) : new Error(text)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
