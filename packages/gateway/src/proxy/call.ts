import { type ClientCapabilities, type InputRequiredResult, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import type { CallResult, Relay } from '@unfold-mcp/client'
import type { ClientPort } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { callerPath } from '../access/caller-path.ts'
import type { ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import type { Exchanges } from './exchanges.ts'
import type { ProxiedRequest } from './proxied-request.ts'
import type { Send } from './suspended-request.ts'

export interface CallContext {
  readonly upstreams: Upstreams
  readonly exchanges: Exchanges
  /** Capabilities of a session's client. */
  readonly capabilities: (scope: string) => ClientCapabilities | undefined
  /** False if clients can no longer use a tool. */
  readonly isServed: (server: string, tool: string) => boolean
  /** URI under which the client can read a resource of a server. */
  readonly clientUri: (client: Client | undefined, server: string, uri: string) => string
}

// A URI is compared with every template, and a server may send thousands of both.
const maxLinks = 100

type Block = CallResult['content'][number]

type SendOptions = Parameters<Send<object>>[1]

/** Calls a tool of an upstream, and relays elicitation, sampling, progress and logging to the client. */
export function proxyCall(context: CallContext, call: ProxiedCall): Promise<ProxiedResult> {
  const { upstream, tool, input, trace } = call
  const send = (relay: Relay, { signal, onProgress }: SendOptions): Promise<ProxiedResult> => {
    const meta = trace === undefined ? undefined : { ...trace }
    const caller = callerPath(call.ctx)
    call.note?.('sent')
    const isServed = (): boolean => context.isServed(upstream, tool)
    const options = { signal, onProgress, relay, caller, isServed, ...(meta !== undefined && { meta }) }
    return context.upstreams.call(upstream, tool, input, options).then((result) => clientResult(context, call, result))
  }
  return context.exchanges.run<Exclude<ProxiedResult, InputRequiredResult>>(new ProxiedToolCall(context, call), send)
}

// Getters, because most calls never ask the client anything.
class ProxiedToolCall implements ProxiedRequest {
  readonly server: string
  readonly client: Client | undefined
  readonly #context: CallContext
  readonly #call: ProxiedCall

  constructor(context: CallContext, call: ProxiedCall) {
    this.server = call.upstream
    this.client = call.client
    this.#context = context
    this.#call = call
  }

  get what(): string {
    return `tools/call ${this.#call.tool}`
  }

  get era(): ProxiedRequest['era'] {
    return this.#call.ctx.era
  }

  get port(): ProxiedRequest['port'] {
    const { client } = this.#call.ctx
    const { note } = this.#call
    return client === undefined || note === undefined ? client : notedPort(client, note)
  }

  get envelope(): ProxiedRequest['envelope'] {
    return this.#call.ctx.envelope
  }

  get inputResponses(): ProxiedRequest['inputResponses'] {
    return this.#call.ctx.inputResponses
  }

  get requestState(): ProxiedRequest['requestState'] {
    return this.#call.ctx.requestState
  }

  get capabilities(): ProxiedRequest['capabilities'] {
    return this.#context.capabilities(this.#call.ctx.scope)
  }

  get signal(): AbortSignal {
    return this.#call.ctx.signal
  }

  progress(...report: Parameters<ProxiedRequest['progress']>): Promise<void> {
    return this.#call.ctx.progress(...report)
  }
}

/** Records the questions that a server asks the client of a session. */
const notedPort = (port: ClientPort, note: NonNullable<ProxiedCall['note']>): Pick<ClientPort, 'ask' | 'log'> => ({
  log: (...entry) => port.log(...entry),
  async ask(...question) {
    note('question_asked')
    try {
      const answer = await port.ask(...question)
      note('question_answered')
      return answer
    } catch (error) {
      note('question_refused')
      throw error
    }
  },
})

function clientResult({ clientUri }: CallContext, { client, upstream }: ProxiedCall, result: CallResult): ProxiedResult {
  const { content, structuredContent, isError, inputRequired } = result
  if (inputRequired !== undefined) return inputRequired
  const _meta = metaOf(result)
  if (structuredContent === undefined && _meta === undefined && !isError && content.every(isText))
    return { content: [...content] }
  let links = 0
  const toClientUri = (uri: string): string => (++links > maxLinks ? uri : clientUri(client, upstream, uri))
  return {
    content: content.map((block) => (block.type === 'text' ? block : withClientUri(block, toClientUri))),
    ...(structuredContent !== undefined && { structuredContent: structuredContent as Record<string, unknown> }),
    ...(isError && { isError }),
    ...(_meta !== undefined && { _meta }),
  }
}

// Without the server's info: to the client, the server is the gateway.
function metaOf({ _meta = {} }: CallResult): Readonly<Record<string, unknown>> | undefined {
  const { [SERVER_INFO_META_KEY]: _maker, ...rest } = _meta
  return Object.keys(rest).length === 0 ? undefined : rest
}

const isText = ({ type }: Block): boolean => type === 'text'

function withClientUri(block: Block, clientUri: (uri: string) => string): Block {
  if (block.type === 'resource_link' && typeof block.uri === 'string') return { ...block, uri: clientUri(block.uri) }
  if (block.type !== 'resource' || typeof block.resource?.uri !== 'string') return block
  return { ...block, resource: { ...block.resource, uri: clientUri(block.resource.uri) } }
}
