import {
  type AuthInfo,
  type InputRequiredResult,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import type { Scope } from '../runtime/scope.ts'
import { contextBuilding } from './context-building.ts'
import type { RequestHead } from './exchange.ts'

/** What the SDK would be told of a request beside its message. */
export interface CallSurroundings {
  readonly signal: AbortSignal
  readonly sessionId: string
  readonly request: () => Request
  readonly authInfo: AuthInfo | undefined
}

/** The parameters of a call of a tool that hold nothing but what every revision has. */
export interface CallParams {
  readonly name: string
  readonly arguments?: unknown
  readonly _meta?: ServerContext['mcpReq']['_meta']
}

const known = new Set(['name', 'arguments', '_meta'])

/** Whether these are such parameters; that the name is a text and the arguments an object was found before. */
export function isPlainCall(params: object): params is CallParams {
  const { _meta: meta } = params as { readonly _meta?: unknown }
  if (!Object.keys(params).every((key) => known.has(key))) return false
  if (meta === undefined) return true
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return false
  const { progressToken } = meta as { readonly progressToken?: unknown }
  return progressToken === undefined || typeof progressToken === 'string' || Number.isInteger(progressToken)
}

/** Whether this is a plain call within a session: there is nothing about it to find out by looking at it more closely. */
export function isSessionCall(head: RequestHead, body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || head.header('mcp-session-id') === undefined)
    return false
  const { jsonrpc, id, method, params, ...rest } = body as { readonly [key: string]: unknown }
  if (jsonrpc !== '2.0' || method !== 'tools/call' || (typeof id !== 'string' && !Number.isSafeInteger(id))) return false
  if (typeof params !== 'object' || params === null || Array.isArray(params) || Object.keys(rest).length > 0) return false
  const { name, arguments: args, _meta: meta } = params as { readonly [key: string]: unknown }
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args)
  // What says its revision with every request is of the other era.
  const isOther =
    head.header('mcp-method') !== undefined || (typeof meta === 'object' && meta !== null && PROTOCOL_VERSION_META_KEY in meta)
  return typeof name === 'string' && (args === undefined || isObject) && !isOther && isPlainCall(params)
}

type Base = Pick<ServerContext, 'sessionId' | 'mcpReq' | 'http'>

/** The context that the SDK gives a handler of this request in a session, for one that it never saw. */
export function sessionContext(server: Server, { id, method, params }: JSONRPCRequest, around: CallSurroundings): ServerContext {
  const { signal, sessionId, authInfo } = around
  const related = { relatedRequestId: id }
  const mcpReq = {
    id,
    method,
    _meta: params?._meta,
    requestState: () => undefined,
    signal,
    send: (request: Parameters<Server['request']>[0], schema?: unknown, options?: object) =>
      isSchema(schema)
        ? server.request(request, schema, { ...options, ...related })
        : server.request(request as never, { ...(schema as object | undefined), ...related }),
    notify: (notification: Parameters<Server['notification']>[0], options?: object) =>
      server.notification(notification, { ...options, ...related }),
  } as unknown as ServerContext['mcpReq']
  const base: Base = { sessionId, mcpReq, ...(authInfo !== undefined && { http: { authInfo } }) }
  return contextBuilding(server).buildContext(base, { request: around.request() })
}

const isSchema = (given: unknown): given is StandardSchemaV1 =>
  typeof given === 'object' && given !== null && '~standard' in given

const questions = new WeakMap<Scope, Map<RequestId, InputRequiredResult>>()

/** Leaves what a call wants to know first to the SDK, which asks the client of a session and makes the call again. */
export function leaveQuestion(scope: Scope, id: RequestId, result: InputRequiredResult): void {
  const left = questions.get(scope) ?? new Map<RequestId, InputRequiredResult>()
  questions.set(scope, left.set(id, result))
}

/** What was left for this request, once. */
export function takeQuestion(scope: Scope, id: RequestId): InputRequiredResult | undefined {
  const left = questions.get(scope)
  const found = left?.get(id)
  if (found !== undefined) left?.delete(id)
  return found
}
