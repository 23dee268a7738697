import type { RequestId, Server } from '@modelcontextprotocol/server'
import type { Scope } from '../../scope/scope.ts'
import { type ClientPort, sendLog } from '../../tool/client-port.ts'

/** Client of a request in a session. All messages go to the stream of that request. */
export class SessionPort implements ClientPort {
  readonly disconnect: (() => void) | undefined
  readonly #server: Server
  readonly #scope: Scope
  readonly #related: { readonly relatedRequestId: RequestId }

  constructor(server: Server, scope: Scope, id: RequestId, disconnect?: () => void) {
    this.disconnect = disconnect
    this.#server = server
    this.#scope = scope
    this.#related = { relatedRequestId: id }
  }

  get name(): string | undefined {
    return this.#server.getClientVersion()?.name
  }

  get capabilities(): ClientPort['capabilities'] {
    return this.#server.getClientCapabilities()
  }

  notify(...[method, params]: Parameters<ClientPort['notify']>): Promise<void> {
    return this.#server.notification({ method, ...(params !== undefined && { params }) } as never, this.#related)
  }

  ask(...[method, params, options]: Parameters<ClientPort['ask']>): Promise<unknown> {
    const { signal, timeoutMs } = options ?? {}
    const requestOptions = {
      ...this.#related,
      ...(signal !== undefined && { signal }),
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    }
    // These validate the client's capabilities and, for a form, its response.
    if (method === 'elicitation/create') return this.#server.elicitInput(params as never, requestOptions)
    if (method === 'sampling/createMessage') return this.#server.createMessage(params as never, requestOptions)
    return this.#server.listRoots(params, requestOptions)
  }

  log(...message: Parameters<ClientPort['log']>): Promise<void> {
    return sendLog((method, params) => this.notify(method, params), this.#scope.logLevel ?? 'debug', ...message)
  }
}
