import type { RequestId, Server } from '@modelcontextprotocol/server'
import type { Scope } from '../scope/scope.ts'
import { type ClientPort, sendLog } from '../tool/client-port.ts'

/** The client of a request in a session. Everything goes out with the reply to that request. */
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

  get capabilities(): ClientPort['capabilities'] {
    return this.#server.getClientCapabilities()
  }

  notify(...[method, params]: Parameters<ClientPort['notify']>): Promise<void> {
    return this.#server.notification({ method, ...(params !== undefined && { params }) } as never, this.#related)
  }

  ask(...[method, params, options]: Parameters<ClientPort['ask']>): Promise<unknown> {
    const { signal, timeoutMs } = options ?? {}
    const asked = {
      ...this.#related,
      ...(signal !== undefined && { signal }),
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    }
    // These check what the client declared and, for a form, what it returned.
    if (method === 'elicitation/create') return this.#server.elicitInput(params as never, asked)
    if (method === 'sampling/createMessage') return this.#server.createMessage(params as never, asked)
    return this.#server.listRoots(params, asked)
  }

  log(...message: Parameters<ClientPort['log']>): Promise<void> {
    return sendLog((method, params) => this.notify(method, params), this.#scope.logLevel ?? 'debug', ...message)
  }
}
