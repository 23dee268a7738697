/** A tool as the host offers it to the model. */
export interface OfferedTool {
  readonly name: string
  /** Its namespace, if the wire format has namespaces; a call must repeat it. */
  readonly namespace?: string
  readonly description: string
  readonly parameters: unknown
  /** Sent, but hidden from the model until it requests the tool. */
  readonly isDeferred?: true
}

/** A call that the model made earlier in this conversation. */
interface MadeCall {
  readonly id: string
  readonly name: string
  readonly arguments: Record<string, unknown>
}

/** The result of a call as the model receives it. */
export interface ReceivedResult {
  readonly id: string
  readonly text: string
  readonly isError: boolean
  readonly images: number
}

/** One entry of the conversation, in order. */
export type Message =
  | { readonly kind: 'user'; readonly text: string; readonly images: number }
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'call'; readonly call: MadeCall }
  | { readonly kind: 'result'; readonly result: ReceivedResult }

/** A request from the host to the model, in any wire format. */
export interface ModelRequest {
  readonly system: string
  readonly tools: readonly OfferedTool[]
  readonly messages: readonly Message[]
  /** JSON Schema of the reply, if the host requests structured output. */
  readonly replySchema?: object
  /** Size of the request body. */
  readonly bytes: number
  /** The request body. */
  readonly body: unknown
}

/** The next action of the model. */
export type Action =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly namespace?: string; readonly arguments: Record<string, unknown> }

/** One wire format: recognises, parses and answers its requests. */
export interface Wire {
  /** Returns whether a path requests the next action of the model. */
  readonly asks: (path: string) => boolean
  readonly read: (body: unknown, bytes: number) => ModelRequest
  /** Returns the reply for an action; `id` identifies the turn. */
  readonly write: (action: Action, id: string, isStreamed: boolean) => WireReply
  readonly isStreamed: (path: string, body: unknown) => boolean
  /** Replies to auxiliary requests: counting tokens, listing models. */
  readonly aside: (path: string) => object | undefined
}

export interface WireReply {
  readonly type: 'text/event-stream' | 'application/json'
  readonly body: string
}

/** Formats server-sent events, with names if the format has them. */
export function eventStream(events: readonly { readonly event?: string; readonly data: unknown }[]): WireReply {
  const lines = events.map(({ event, data }) => {
    const value = typeof data === 'string' ? data : JSON.stringify(data)
    return `${event === undefined ? '' : `event: ${event}\n`}data: ${value}\n\n`
  })
  return { type: 'text/event-stream', body: lines.join('') }
}

/** Returns the text of content that is a string or a list of blocks, in the formats of Anthropic and OpenAI. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content === undefined || content === null ? '' : JSON.stringify(content)
  return content.map((block: Block) => (typeof block === 'string' ? block : blockText(block))).join('\n')
}

/** Counts the images in content. */
export function imagesIn(content: unknown): number {
  return Array.isArray(content) ? content.filter((block: Block) => /^(input_)?image(_url)?$/u.test(block.type ?? '')).length : 0
}

interface Block {
  readonly type?: string
  readonly text?: string
}

function blockText(block: Block): string {
  if (typeof block.text === 'string') return block.text
  return imagesIn([block]) > 0 ? '' : JSON.stringify(block)
}
