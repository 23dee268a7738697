import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Middleware } from '../middleware/chain.ts'
import { BlockedResult, type InspectResult, type ResultOrigin } from './result-inspector.ts'

/** Inspects the results of tool calls. A blocked result becomes an error that the model can read. */
export function inspectCalls(inspect: InspectResult): Middleware {
  return async (call, next) => {
    const result = await next(call)
    // A question of the server, which a person answers.
    if (!('content' in result)) return result
    try {
      return await inspect({ upstream: call.upstream, what: call.tool }, result)
    } catch (error) {
      if (!(error instanceof BlockedResult)) throw error
      return { content: [{ type: 'text', text: error.message }], isError: true }
    }
  }
}

/** Inspects a prompt or resource. A blocked one fails. */
export async function inspectDocument(inspect: InspectResult, origin: ResultOrigin, result: object): Promise<object> {
  try {
    return await inspect(origin, result)
  } catch (error) {
    if (error instanceof BlockedResult) throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
    throw error
  }
}
