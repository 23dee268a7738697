import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type CreateMessageRequest,
  type InputRequests,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ClientResult, Relay, ServerRequest } from '@unfold-mcp/client'
import { printable } from '@unfold-mcp/core'
import type { ClientPort, Era } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { stripHiddenCharacters } from '../base/visible-text.ts'

/** A client request that is forwarded to a server. */
export interface ProxiedRequest {
  readonly server: string
  /** Method and target, so that answers for another request are rejected. */
  readonly what: string
  readonly client: Client | undefined
  readonly era: Era
  /** Sends requests to the client; absent for in-process requests. */
  readonly port: Pick<ClientPort, 'ask' | 'log'> | undefined
  /** `_meta` of a 2026-07-28 request. */
  readonly envelope: ServerContext['mcpReq']['envelope']
  /** Answers of a retried request. */
  readonly inputResponses: { readonly [key: string]: unknown } | undefined
  readonly requestState: string | undefined
  /** Capabilities of a session's client. */
  readonly capabilities: ClientCapabilities | undefined
  readonly signal: AbortSignal
  readonly progress: (progress: number, total?: number, message?: string) => Promise<void>
}

/** Binds answers to the client and the request. */
export const ownerOf = ({ client, server, what }: ProxiedRequest): string => JSON.stringify([client?.id ?? null, server, what])

/** Client capabilities that servers may use. Roots are excluded: the client's file system is not the server's. */
export function askableCapabilities(request: ProxiedRequest): ClientCapabilities {
  const can = request.era === 'stateless' ? envelopeValue(request, CLIENT_CAPABILITIES_META_KEY) : request.capabilities
  const { elicitation, sampling } = (can ?? {}) as ClientCapabilities
  return { ...(elicitation !== undefined && { elicitation }), ...(sampling !== undefined && { sampling }) }
}

/** Log level requested by the client; for sessions the filter is applied when a message is sent. */
export function logLevelOf(request: ProxiedRequest): LoggingLevel | undefined {
  return request.era === 'session' ? 'debug' : (envelopeValue(request, LOG_LEVEL_META_KEY) as LoggingLevel | undefined)
}

const envelopeValue = ({ envelope }: ProxiedRequest, key: string): unknown =>
  (envelope as Readonly<Record<string, unknown>> | undefined)?.[key]

/** Forwards log messages to the client, with the server's name as logger. */
export const logTo =
  (request: ProxiedRequest): Relay['onLog'] =>
  ({ level, data }) => {
    request.port?.log(level, data, request.server).catch(() => undefined)
  }

const maxQuestionLength = 262_144

/** Prepares a server-initiated request for the client. Throws if the client does not support it. */
export function clientQuestion(request: ProxiedRequest, question: ServerRequest): ServerRequest {
  refuseUnasked(askableCapabilities(request), question)
  if (JSON.stringify(question.params).length > maxQuestionLength) throw refusal('The request is too long to be forwarded.')
  if (question.method !== 'elicitation/create') return withoutContext(question)
  const { params } = question
  if (params.mode === 'url' && !/^https?:\/\//iu.test(params.url)) throw refusal('Only http:// and https:// URLs are allowed.')
  const message = stripHiddenCharacters(params.message)
  // A client of a single server knows which server asks.
  return {
    ...question,
    params: { ...params, message: request.client?.server === undefined ? `${request.server}: ${message}` : message },
  }
}

// The client would include context from other servers.
function withoutContext<T extends CreateMessageRequest>(question: T): T {
  const { includeContext: _, ...params } = question.params
  return { ...question, params }
}

export function clientInputRequests(request: ProxiedRequest, question: InputRequests): InputRequests {
  return Object.fromEntries(
    Object.entries(question).map(([key, each]) => {
      if (each.method === 'roots/list') throw refusal('Roots are not supported.')
      return [key, clientQuestion(request, each)]
    }),
  )
}

function refuseUnasked({ elicitation, sampling }: ClientCapabilities, { method, params }: ServerRequest): void {
  if (method === 'sampling/createMessage') {
    if (sampling === undefined) throw refusal('The client does not support sampling.')
    if ('tools' in params && params.tools !== undefined && sampling.tools === undefined)
      throw refusal('The client does not support sampling with tools (sampling.tools).')
    return
  }
  const isUrl = params.mode === 'url'
  // Clients of earlier revisions declare only `elicitation`, which means forms.
  const can = isUrl
    ? elicitation?.url !== undefined
    : elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  if (can) return
  throw refusal(`The client does not support ${isUrl ? 'URL elicitation (elicitation.url)' : 'form elicitation'}.`)
}

export const refusal = (why: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidRequest, why)

const answerTimeoutMs = 600_000

/** Sends a request to the client of a session, on the stream of its own request. */
export async function askSession(request: ProxiedRequest, question: ServerRequest, signal: AbortSignal): Promise<ClientResult> {
  const { port, server } = request
  if (port === undefined) throw refusal('The request has no connection to a client.')
  const { method, params } = clientQuestion(request, question)
  try {
    return (await port.ask(method, { ...params }, { signal, timeoutMs: answerTimeoutMs })) as ClientResult
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    throw refusal(`The client did not answer the request of "${printable(server)}": ${printable(String(error), 300)}`)
  }
}
