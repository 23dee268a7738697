import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Implementation,
  type InboundModernRoute,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  SdkError,
  SdkErrorCode,
  SERVER_INFO_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Principal } from '../principal.ts'
import { isInputRequired } from '../result.ts'
import { answer, type Call } from '../runtime/calls.ts'
import { cancellation } from '../runtime/deadline.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../runtime/scope.ts'
import { contextBuilding } from './context-building.ts'
import type { Exchange, Reply, WholeReply } from './exchange.ts'
import { askingAlongside, lowLevel, onTheWire, protocolServer, statelessRevision } from './protocol.ts'
import { type CallParams, isPlainCall } from './quick-call.ts'
import { authInfoOf } from './sessions.ts'

/** A call of a 2026-07-28 client, read and found to be in order. */
export interface SingleCall {
  readonly exchange: Exchange
  readonly route: InboundModernRoute
  readonly principal: Principal | undefined
  readonly scope: Scope
}

type Result = Awaited<ReturnType<typeof answer>>

// What a client says of itself with every request.
const lifted: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
])

/** Whether this is a plain call, with nothing that the SDK would refuse or treat differently. */
export function isSingleCall(
  scope: Scope,
  exchange: Exchange,
  { messageKind, message, classification }: InboundModernRoute,
): boolean {
  if (messageKind !== 'request' || classification.revision !== statelessRevision || scope.product !== undefined) return false
  const { params } = message
  return (
    exchange.header('mcp-protocol-version') === statelessRevision &&
    exchange.header('mcp-method') === 'tools/call' &&
    params !== undefined &&
    exchange.header('mcp-name') === params.name &&
    isPlainCall(params)
  )
}

/**
 * Answers calls of 2026-07-28 clients. Most get a result and nothing else, for which no protocol server is needed. As soon as
 * there is more to a call, such as progress, a question or an error, the SDK takes it over as if it had been its own from the start.
 */
export class SingleCalls {
  readonly #runtime: Runtime
  readonly #open = new Map<AbortController, { readonly tool: string; readonly principal: Principal | undefined }>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  answer(single: SingleCall): Promise<Reply> {
    const { exchange, route, principal, scope } = single
    const { id, params } = route.message as JSONRPCRequest
    const { name, arguments: args, _meta } = params as unknown as CallParams
    const controller = new AbortController()
    this.#open.set(controller, { tool: name, principal })
    exchange.gone(() => controller.abort(cancellation(name)))
    let taken: Taken | undefined
    let speak: (reply: Promise<Reply>) => void = () => undefined
    const spoken = new Promise<Reply>((resolve) => {
      speak = resolve
    })
    const takeOver = (): Taken => {
      if (taken !== undefined) return taken
      taken = takenOver(this.#runtime, single, () => running)
      speak(taken.reply)
      return taken
    }
    const call: Call = {
      name,
      ...(args !== undefined && { arguments: args }),
      ...apart(_meta),
      controller,
      context: () => takeOver().context(),
    }
    const running = answer(this.#runtime, scope, call)
    const done = async (): Promise<Reply> => {
      try {
        const result = await running
        if (taken === undefined && isPlain(result)) return whole(id, result, this.#runtime.declaration.info)
      } catch {
        // What went wrong is for the SDK to say.
      } finally {
        this.#open.delete(controller)
      }
      return takeOver().reply
    }
    // A call that says something before its result is answered from then on.
    return Promise.race([spoken, done()])
  }

  /** Ends the calls of these principals that are being answered. */
  dismiss(whose: (principal: Principal | undefined) => boolean): void {
    for (const [controller, { tool, principal }] of this.#open) if (whose(principal)) controller.abort(cancellation(tool))
  }
}

/** What the client says of itself, and what came with the call beside that. */
function apart(given: CallParams['_meta'] = {}): Pick<Call, 'meta' | 'envelope'> {
  const entries = Object.entries(given)
  const meta = entries.filter(([key]) => !lifted.has(key))
  return {
    envelope: Object.fromEntries(entries.filter(([key]) => lifted.has(key))),
    ...(meta.length > 0 && { meta: Object.fromEntries(meta) }),
  }
}

/** A result that says the same in every era. */
function isPlain(result: Result): result is CallToolResult {
  const { structuredContent: value, resultType } = result as {
    readonly structuredContent?: unknown
    readonly resultType?: unknown
  }
  if (resultType !== undefined && resultType !== 'complete') return false
  return value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))
}

function whole(id: RequestId, result: CallToolResult, info: Implementation): WholeReply {
  const stamped = { ...result, resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: info, ...result._meta } }
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    parts: [JSON.stringify({ result: stamped, jsonrpc: '2.0', id })],
  }
}

/** A call that the SDK has taken over. */
interface Taken {
  readonly reply: Promise<Reply>
  readonly context: () => ServerContext
}

/** Hands a call to the SDK while it is being answered: it sees a request like any other, and `outcome` is what its handler gives. */
function takenOver(runtime: Runtime, { exchange, route, principal, scope }: SingleCall, outcome: () => Promise<Result>): Taken {
  const server = lowLevel(protocolServer(runtime, scope, { introduces: false, isForTools: true }))
  server.setRequestHandler('tools/call', async ({ params: { name } }) => {
    const result = await onTheWire(outcome)
    return isInputRequired(result) ? result : server.projectCallToolResult(result, runtime.outputSchemaOf(scope, name))
  })
  const building = contextBuilding(server)
  const build = building.buildContext.bind(server)
  let context: ServerContext | undefined
  building.buildContext = (...given) => {
    context = askingAlongside(build(...given))
    return context
  }
  const transport = new PerRequestHTTPServerTransport({ classification: route.classification })
  // Both have done what counts here when they return.
  const connected = server.connect(transport)
  const answered = transport.handleMessage(route.message, {
    request: exchange.request(),
    ...(principal !== undefined && { authInfo: authInfoOf(principal) }),
  })
  return {
    reply: Promise.all([answered, connected]).then(([reply]) => reply, closedEarly),
    context() {
      if (context === undefined) throw new Error('The call is over.')
      return context
    },
  }
}

/** Nobody is left to answer. */
function closedEarly(error: unknown): Response {
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return new Response(null, { status: 499 })
  throw error
}
