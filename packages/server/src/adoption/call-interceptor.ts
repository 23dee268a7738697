import type { JSONRPCRequest, Server, ServerContext } from '@modelcontextprotocol/server'
import { callTool } from '../operations/calling/call-tool.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { sdkContextOf, toCall, withProtocolErrors } from './methods.ts'
import type { AdoptedTools } from './tools.ts'

export type RequestHandler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<unknown>

/** Members of the SDK's classes that are not public and that `adopt` needs. */
export interface SdkInternals {
  _getRequestHandler?(method: string): RequestHandler | undefined
  _wrapHandler?(method: string, handler: RequestHandler): RequestHandler
  _instructions?: string
  readonly _serverInfo?: { readonly name?: string; readonly version?: string }
}

export const internalsOf = (server: object): SdkInternals => server

type CallParams = { readonly name: string; readonly arguments?: unknown; readonly [more: string]: unknown }

/** Routes the calls of an adopted server through the runtime, and keeps their original params for the server's own handler. */
export class CallInterceptor {
  readonly #byContext = new WeakMap<ServerContext, CallParams>()

  /**
   * Replaces the `tools/call` handler. The SDK wraps call handlers; the server's own handler is already wrapped, and wrapping
   * again would verify the request state and wrap the result twice.
   */
  install(runtime: Runtime, scope: Scope, server: Server, tools: AdoptedTools): void {
    const internals = internalsOf(server)
    const original = internals._getRequestHandler?.('tools/call')
    internals._wrapHandler = (_method, handler) => handler
    server.setRequestHandler('tools/call', (async (request: JSONRPCRequest, ctx: ServerContext) => {
      const params = request.params as CallParams
      if (original !== undefined && !tools.has(params.name)) return original(request, ctx)
      const call = toCall(params.name, params.arguments, ctx)
      const context = sdkContextOf(call.client)
      if (context !== undefined) this.#byContext.set(context, params)
      return withProtocolErrors(() => callTool(runtime, scope, call))
    }) as never)
    delete internals._wrapHandler
  }

  /** Returns the params of a call as the client sent them. */
  paramsOf(name: string, args: unknown, mcp: ServerContext | undefined): CallParams {
    const params = mcp === undefined ? undefined : this.#byContext.get(mcp)
    if (params?.name === name) return params
    const meta = mcp?.mcpReq._meta
    return { name, arguments: args, ...(meta !== undefined && { _meta: meta }) }
  }
}
