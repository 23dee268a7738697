import type { ClientCapabilities, ServerContext } from '@modelcontextprotocol/server'
import type { ClientPort } from '../tool/client-port.ts'

/** Client of a request that the SDK dispatched: to an adopted server, or to a handler that `extend` registered. */
export class SdkPort implements ClientPort {
  readonly context: ServerContext
  readonly capabilities: ClientCapabilities | undefined

  constructor(context: ServerContext, capabilities?: ClientCapabilities) {
    this.context = context
    this.capabilities = capabilities
  }

  notify(...[method, params]: Parameters<ClientPort['notify']>): Promise<void> {
    return this.context.mcpReq.notify({ method, ...(params !== undefined && { params }) } as never)
  }

  ask(...[method, params, options]: Parameters<ClientPort['ask']>): Promise<unknown> {
    const { signal, timeoutMs } = options ?? {}
    const requestOptions = { ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeout: timeoutMs }) }
    return this.context.mcpReq.send({ method, params } as never, requestOptions)
  }

  log(...[level, data, logger]: Parameters<ClientPort['log']>): Promise<void> {
    return this.context.mcpReq.log(level, data, logger)
  }
}
