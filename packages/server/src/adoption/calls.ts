import type { JSONRPCRequest, Server, ServerContext } from '@modelcontextprotocol/server'
import { callTool } from '../operations/calling/call-tool.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { callFrom, contextIn, onTheWire } from './methods.ts'
import type { AdoptedTools } from './tools.ts'

export type RequestHandler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<unknown>

/** What the SDK's classes keep for classes derived from them, and what there is no other way to reach. */
export interface Internals {
  _getRequestHandler?(method: string): RequestHandler | undefined
  _wrapHandler?(method: string, handler: RequestHandler): RequestHandler
  _instructions?: string
  readonly _serverInfo?: { readonly name?: string; readonly version?: string }
}

export const internalsOf = (server: object): Internals => server

type CallParams = { readonly name: string; readonly arguments?: unknown; readonly [more: string]: unknown }

/** The calls that clients made, as they made them: the server of the tool gets the very same. */
export class Calls {
  readonly #byContext = new WeakMap<ServerContext, CallParams>()

  /**
   * Has the runtime answer calls on a server that answers for tools already. The SDK wraps what answers calls; for the server's
   * own tools that was done, and doing it again would verify a request's state twice and wrap its result twice.
   */
  handle(runtime: Runtime, scope: Scope, server: Server, tools: AdoptedTools): void {
    const internals = internalsOf(server)
    const others = internals._getRequestHandler?.('tools/call')
    internals._wrapHandler = (_method, handler) => handler
    server.setRequestHandler('tools/call', (async (request: JSONRPCRequest, given: ServerContext) => {
      const params = request.params as CallParams
      if (others !== undefined && !tools.has(params.name)) return others(request, given)
      const call = callFrom(params.name, params.arguments, given)
      const context = contextIn(call.client)
      if (context !== undefined) this.#byContext.set(context, params)
      return onTheWire(() => callTool(runtime, scope, call))
    }) as never)
    delete internals._wrapHandler
  }

  /** The parameters for this call of this tool. */
  paramsOf(name: string, args: unknown, mcp: ServerContext | undefined): CallParams {
    const made = mcp === undefined ? undefined : this.#byContext.get(mcp)
    if (made?.name === name) return made
    const meta = mcp?.mcpReq._meta
    return { name, arguments: args, ...(meta !== undefined && { _meta: meta }) }
  }
}
