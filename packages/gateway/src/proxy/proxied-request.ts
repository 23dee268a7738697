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
import type { Answer, Question, Relay } from '@unfold-mcp/client'
import { printable } from '@unfold-mcp/core'
import type { ClientPort, Era } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { stripHiddenCharacters } from '../base/visible-text.ts'

/** A request of a client that a server is to answer. */
export interface ProxiedRequest {
  readonly server: string
  /** What is request for, so that an answer for something else is told apart. */
  readonly what: string
  readonly client: Client | undefined
  readonly era: Era
  /** How the client can be reached meanwhile; absent for a request that came over no wire. */
  readonly port: ClientPort | undefined
  /** What a 2026-07-28 client says of itself with the request. */
  readonly envelope: ServerContext['mcpReq']['envelope']
  /** What the client brings to a request that it made before. */
  readonly inputResponses: { readonly [key: string]: unknown } | undefined
  readonly requestState: string | undefined
  /** What the client said it can be request. */
  readonly capabilities: ClientCapabilities | undefined
  readonly signal: AbortSignal
  readonly progress: (progress: number, total?: number, message?: string) => Promise<void>
}

/** Whose answers belong to this request, and to which. */
export const ownerOf = ({ client, server, what }: ProxiedRequest): string => JSON.stringify([client?.id ?? null, server, what])

/** What the client can be request through a gateway: its roots are on another machine, and no server's concern here. */
export function askableCapabilities(request: ProxiedRequest): ClientCapabilities {
  const can = request.era === 'stateless' ? envelopeValue(request, CLIENT_CAPABILITIES_META_KEY) : request.capabilities
  const { elicitation, sampling } = (can ?? {}) as ClientCapabilities
  return { ...(elicitation !== undefined && { elicitation }), ...(sampling !== undefined && { sampling }) }
}

/** From which level on the client reads the log; every message of a session is weighed when it is passed on. */
export function logLevelOf(request: ProxiedRequest): LoggingLevel | undefined {
  return request.era === 'session' ? 'debug' : (envelopeValue(request, LOG_LEVEL_META_KEY) as LoggingLevel | undefined)
}

/** What a 2026-07-28 client says with every request. */
const envelopeValue = ({ envelope }: ProxiedRequest, key: string): unknown =>
  (envelope as Readonly<Record<string, unknown>> | undefined)?.[key]

/** Passes a line of the server's log on to the client, under the server's name. */
export const logTo =
  (request: ProxiedRequest): Relay['onLog'] =>
  ({ level, data }) => {
    request.port?.log(level, data, request.server).catch(() => undefined)
  }

const maxQuestionLength = 262_144

/** The question as the client is request it: who wants to know stands in it. Throws when this client cannot be request that. */
export function clientQuestion(request: ProxiedRequest, question: Question): Question {
  refuseUnasked(askableCapabilities(request), question)
  if (JSON.stringify(question.params).length > maxQuestionLength) throw refusal('The question is too long to be passed on.')
  if (question.method !== 'elicitation/create') return withoutContext(question)
  const { params } = question
  if (params.mode === 'url' && !/^https?:\/\//iu.test(params.url))
    throw refusal('Only addresses that begin with https:// or http:// are shown to people.')
  const message = stripHiddenCharacters(params.message)
  // Whoever is connected to one server alone knows who asks.
  return {
    ...question,
    params: { ...params, message: request.client?.server === undefined ? `${request.server}: ${message}` : message },
  }
}

/** To the client all servers behind the gateway are one, and what it knows from one of them is not for another. */
function withoutContext<T extends CreateMessageRequest>(question: T): T {
  const { includeContext: _, ...params } = question.params
  return { ...question, params }
}

/** The same for what a server wants to know in place of a result. */
export function clientInputRequests(request: ProxiedRequest, question: InputRequests): InputRequests {
  return Object.fromEntries(
    Object.entries(question).map(([key, each]) => {
      if (each.method === 'roots/list') throw refusal('There are no roots here.')
      return [key, clientQuestion(request, each)]
    }),
  )
}

function refuseUnasked({ elicitation, sampling }: ClientCapabilities, { method, params }: Question): void {
  if (method === 'sampling/createMessage') {
    if (sampling === undefined) throw refusal('The client that made this request cannot be request for a completion (sampling).')
    if ('tools' in params && params.tools !== undefined && sampling.tools === undefined)
      throw refusal('The client that made this request cannot be request for a completion with tools (sampling.tools).')
    return
  }
  const isUrl = params.mode === 'url'
  // A client from before there were two kinds means forms.
  const can = isUrl
    ? elicitation?.url !== undefined
    : elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  if (can) return
  const what = isUrl ? 'to have an address visited (elicitation.url)' : 'to have a form filled in (elicitation)'
  throw refusal(`The client that made this request cannot be request ${what}.`)
}

/** Why a question is not passed on, in words for the server. */
export const refusal = (why: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidRequest, why)

const answerTimeoutMs = 600_000

/** Asks the client of a session, over the stream of its own request. */
export async function askSession(request: ProxiedRequest, question: Question, signal: AbortSignal): Promise<Answer> {
  const { port, server } = request
  if (port === undefined) throw refusal('The request came over no connection, so nobody can be request.')
  const { method, params } = clientQuestion(request, question)
  try {
    return (await port.ask(method, { ...params }, { signal, timeoutMs: answerTimeoutMs })) as Answer
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    throw refusal(`The client that "${printable(server)}" asks did not answer: ${printable(String(error), 300)}`)
  }
}
