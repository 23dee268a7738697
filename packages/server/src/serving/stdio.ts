import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio'
import { type Failure, isFailure } from '@unfold-mcp/core'
import type { Principal } from '../principal.ts'
import { checkSize } from '../runtime/limits.ts'
import { malformedCall } from '../runtime/params.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { emptyView, type UrlView } from '../runtime/url-view.ts'
import { runtimeOf } from '../servable.ts'
import { lowLevel, protocolServer, sendListChanged } from './protocol.ts'

export interface StdioOptions {
  /** What the client sees from the start. */
  readonly view?: UrlView
  /** Who the client is; there are no requests to tell from. */
  readonly principal?: Principal
  /** Instead of the process's own standard input and output. */
  readonly transport?: Transport
  readonly onerror?: (error: Error) => void
}

let connections = 0

/** Serves a toolbox to the one client at the other end of standard input and output, of either protocol era. */
export function serveStdio(
  served: object,
  { view = emptyView, principal, transport, onerror }: StdioOptions = {},
): { close(): Promise<void> } {
  const runtime = runtimeOf(served)
  runtime.checkView(view, principal)
  const wire = new CheckedTransport(transport ?? new StdioServerTransport(), runtime)
  return serveSdkStdio(({ era }) => connect(runtime, era === 'modern' ? 'stateless' : 'session', { view, principal }), {
    transport: wire,
    ...(onerror !== undefined && { onerror }),
  })
}

async function connect(
  runtime: Runtime,
  era: 'session' | 'stateless',
  { view, principal }: { view: UrlView; principal: Principal | undefined },
) {
  const scope = await runtime.open({ key: `connection:${++connections}`, era, principal, view })
  const product = protocolServer(runtime, scope)
  const server = lowLevel(product)
  const attach = (): void => runtime.announcer.attach(scope, () => sendListChanged(runtime, product))
  if (era === 'stateless') attach()
  else server.oninitialized = attach
  server.onclose = () => void runtime.close(scope)
  return product
}

/** A transport that answers requests nobody could serve, with the reason, and passes on the rest. */
class CheckedTransport implements Transport {
  readonly #wire: Transport
  readonly #runtime: Runtime
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  constructor(wire: Transport, runtime: Runtime) {
    this.#wire = wire
    this.#runtime = runtime
  }

  async start(): Promise<void> {
    this.#wire.onclose = () => this.onclose?.()
    this.#wire.onerror = (error) => this.onerror?.(error)
    this.#wire.onmessage = (message, extra) => {
      const problem = problemOf(message, this.#runtime)
      if (problem === undefined || !('id' in message)) this.onmessage?.(message, extra)
      else void this.#wire.send({ jsonrpc: '2.0', id: message.id, error: problem }).catch(() => undefined)
    }
    await this.#wire.start()
  }

  send(...args: Parameters<Transport['send']>): Promise<void> {
    return this.#wire.send(...args)
  }

  close(): Promise<void> {
    return this.#wire.close()
  }
}

function problemOf(message: JSONRPCMessage, runtime: Runtime): { code: number; message: string; data: unknown } | undefined {
  const failure = malformedCall(message) ?? sizeProblem(message, runtime)
  return failure === undefined
    ? undefined
    : { code: -32602, message: failure.message, data: { reason: failure.reason, ...failure.details } }
}

function sizeProblem(message: JSONRPCMessage, runtime: Runtime): Failure | undefined {
  try {
    checkSize(message, runtime.declaration.messageLimits)
    return undefined
  } catch (error) {
    if (isFailure(error)) return error
    throw error
  }
}
