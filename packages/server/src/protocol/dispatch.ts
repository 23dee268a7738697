import { ProtocolErrorCode, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import { isFailure } from '@unfold-mcp/core'
import { EncodedResult, type Operation, type OwnRequest } from '../operations/operation.ts'
import { protocolError } from '../operations/protocol-error.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

/** JSON of a response; parts may be cached encodings. */
export type JsonParts = readonly (string | Uint8Array<ArrayBuffer>)[]

export interface ResponseJson {
  readonly json: JsonParts
  /** Set for an error response. */
  readonly errorCode?: number
}

/** Runs an operation and encodes its result or error as a response of the scope's era. */
export async function runOperation(
  operation: Operation,
  runtime: Runtime,
  scope: Scope,
  request: OwnRequest,
): Promise<ResponseJson> {
  const id = JSON.stringify(request.id)
  try {
    const result = await operation(runtime, scope, request)
    if (result instanceof EncodedResult) return { json: ['{"result":', ...result.parts, `,"jsonrpc":"2.0","id":${id}}`] }
    return { json: [`{"result":${JSON.stringify(withRequiredFields(runtime, scope, result))},"jsonrpc":"2.0","id":${id}}`] }
  } catch (error) {
    const sent = toJsonRpcError(isFailure(error) ? protocolError(error) : error)
    return { json: [`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(sent)}}`], errorCode: sent.code }
  }
}

/** Adds the fields that 2026-07-28 requires in every result. */
function withRequiredFields({ declaration }: Runtime, { settings }: Scope, result: object): object {
  if (settings.era === 'session') return result
  const { resultType = 'complete', _meta } = result as { readonly resultType?: string; readonly _meta?: object }
  return { ...result, resultType, _meta: { [SERVER_INFO_META_KEY]: declaration.info, ..._meta } }
}

// A draft code; the served revisions use invalid params instead.
const resourceNotFound = -32_002

function toJsonRpcError(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  const { code, data } = (error ?? {}) as { readonly code?: unknown; readonly data?: unknown }
  const validCode = typeof code === 'number' && Number.isSafeInteger(code) ? code : ProtocolErrorCode.InternalError
  return {
    code: validCode === resourceNotFound ? ProtocolErrorCode.InvalidParams : validCode,
    message: error instanceof Error ? error.message : 'Internal error',
    ...(data !== undefined && { data }),
  }
}
