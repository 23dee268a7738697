import { request } from './api.ts'
import { EventParser } from './sse.ts'

/** A form that a server wants to have filled in, or an address that it wants to have opened. */
export interface Question {
  readonly message: string
  readonly requestedSchema?: { readonly [keyword: string]: unknown }
  /** The server asks to open this address instead. */
  readonly url?: string
}

export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: unknown
}

export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

export interface Content {
  readonly type: string
  readonly text?: string
  readonly data?: string
  readonly mimeType?: string
  readonly uri?: string
  readonly name?: string
  readonly resource?: { readonly uri?: string; readonly text?: string; readonly blob?: string; readonly mimeType?: string }
}

export interface CallResult {
  readonly content: readonly Content[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

export interface CallOptions {
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
  /** Asks the user. */
  readonly answer: (question: Question) => Promise<Answer>
}

interface Reply {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: CallResult & Suspended
  readonly error?: { readonly message: string; readonly data?: unknown }
}

interface Suspended {
  readonly resultType?: string
  readonly inputRequests?: { readonly [key: string]: { readonly method: string; readonly params: Question } }
  readonly requestState?: string
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'unfold-dashboard', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } },
}

// A server that asks forever must not keep the page busy.
const maxRounds = 20

/** Calls a tool as the user of this page. Throws the error of the gateway, or the reason of the signal. */
export async function callTool(name: string, args: unknown, options: CallOptions): Promise<CallResult> {
  let answers: object = {}
  for (let round = 1; round <= maxRounds; round++) {
    const reply = await send({ name, arguments: args, ...answers }, round, options)
    if (reply.error !== undefined) throw new Error(reply.error.message)
    const { result } = reply
    if (result === undefined) throw new Error('The gateway sent no result.')
    if (result.resultType !== 'input_required') return { ...result, content: result.content ?? [] }
    const inputResponses: { [key: string]: Answer } = {}
    for (const [key, { params }] of Object.entries(result.inputRequests ?? {})) inputResponses[key] = await options.answer(params)
    answers = { inputResponses, ...(result.requestState !== undefined && { requestState: result.requestState }) }
  }
  throw new Error(`The server asked more than ${maxRounds} times.`)
}

async function send(params: object, id: number, { signal, onProgress }: CallOptions): Promise<Reply> {
  const response = await request('/mcp', {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { ...params, _meta: { ...meta, progressToken: id } },
    }),
  })
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return (await response.json()) as Reply
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const parser = new EventParser()
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    for (const { data } of parser.push(part.value)) {
      const message = JSON.parse(data) as Reply
      if (message.id === id) return message
      if (message.method === 'notifications/progress') onProgress(message.params as Progress)
    }
  }
  throw new Error('The connection ended before the result.')
}
