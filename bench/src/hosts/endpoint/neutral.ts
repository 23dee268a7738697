/** A tool as the host offers it to the model. */
export interface OfferedTool {
  readonly name: string
  /** The namespace it lies in, where the wire format has such a thing; a call must repeat it. */
  readonly namespace?: string
  readonly description: string
  readonly parameters: unknown
  /** Sent, but not shown to the model before it asked for it. */
  readonly isDeferred?: true
}

/** A call that the model made earlier in this conversation. */
interface MadeCall {
  readonly id: string
  readonly name: string
  readonly arguments: Record<string, unknown>
}

/** What the host made of the reply to a call, as the model receives it. */
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

/** What a host sends to the model, whatever its wire format. */
export interface ModelRequest {
  readonly system: string
  readonly tools: readonly OfferedTool[]
  readonly messages: readonly Message[]
  /** The JSON Schema that the reply must follow, where the host asks for data instead of text. */
  readonly replySchema?: object
  /** Size of the body as it was sent. */
  readonly bytes: number
  /** The body, for whoever looks closer. */
  readonly body: unknown
}

/** What the model does next. */
export type Action =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly namespace?: string; readonly arguments: Record<string, unknown> }

/** One wire format: which requests are its own, and how they are read and answered. */
export interface Wire {
  /** Whether a path asks the model for its next action. */
  readonly asks: (path: string) => boolean
  readonly read: (body: unknown, bytes: number) => ModelRequest
  /** The reply for an action; `id` identifies the turn. */
  readonly write: (action: Action, id: string, isStreamed: boolean) => WireReply
  readonly isStreamed: (path: string, body: unknown) => boolean
  /** Replies to the small requests hosts make on the side: counting tokens, listing models. */
  readonly aside: (path: string) => object | undefined
}

export interface WireReply {
  readonly type: 'text/event-stream' | 'application/json'
  readonly body: string
}

/** A stream of server-sent events; the name of an event is sent where the format has names. */
export function eventStream(events: readonly { readonly event?: string; readonly data: unknown }[]): WireReply {
  const lines = events.map(({ event, data }) => {
    const value = typeof data === 'string' ? data : JSON.stringify(data)
    return `${event === undefined ? '' : `event: ${event}\n`}data: ${value}\n\n`
  })
  return { type: 'text/event-stream', body: lines.join('') }
}

/** Text of content that is a string or a list of blocks, in the formats of Anthropic and OpenAI. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content === undefined || content === null ? '' : JSON.stringify(content)
  return content.map((block: Block) => (typeof block === 'string' ? block : blockText(block))).join('\n')
}

/** How many pictures content holds. */
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
