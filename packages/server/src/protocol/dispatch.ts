import { ProtocolErrorCode, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import { isFailure } from '@unfold-mcp/core'
import { EncodedResult, type Operation, type OwnRequest } from '../operations/operation.ts'
import { protocolError } from '../operations/protocol-error.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

/** The JSON of a response, in parts of which some were encoded before. */
export type JsonParts = readonly (string | Uint8Array<ArrayBuffer>)[]

export interface ResponseJson {
  readonly json: JsonParts
  /** The code of an error response. */
  readonly errorCode?: number
}

/** Runs an operation and encodes its result, or the error that it throws, as the response for this scope's era. */
export async function responseTo(
  operation: Operation,
  runtime: Runtime,
  scope: Scope,
  request: OwnRequest,
): Promise<ResponseJson> {
  const id = JSON.stringify(request.id)
  try {
    const result = await operation(runtime, scope, request)
    if (result instanceof EncodedResult) return { json: ['{"result":', ...result.parts, `,"jsonrpc":"2.0","id":${id}}`] }
    return { json: [`{"result":${JSON.stringify(onTheWire(runtime, scope, result))},"jsonrpc":"2.0","id":${id}}`] }
  } catch (error) {
    const sent = errorOf(isFailure(error) ? protocolError(error) : error)
    return { json: [`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(sent)}}`], errorCode: sent.code }
  }
}

/** A result with what 2026-07-28 requires of every result. */
function onTheWire({ declaration }: Runtime, { settings }: Scope, result: object): object {
  if (settings.era === 'session') return result
  const { resultType = 'complete', _meta } = result as { readonly resultType?: string; readonly _meta?: object }
  return { ...result, resultType, _meta: { [SERVER_INFO_META_KEY]: declaration.info, ..._meta } }
}

// A code of later drafts for what the revisions that are served call invalid params.
const resourceNotFound = -32_002

/** The error that a client gets for anything that was thrown. */
function errorOf(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  const { code, data } = (error ?? {}) as { readonly code?: unknown; readonly data?: unknown }
  const known = typeof code === 'number' && Number.isSafeInteger(code) ? code : ProtocolErrorCode.InternalError
  return {
    code: known === resourceNotFound ? ProtocolErrorCode.InvalidParams : known,
    message: error instanceof Error ? error.message : 'Internal error',
    ...(data !== undefined && { data }),
  }
}
