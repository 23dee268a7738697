import { type Action, eventStream, imagesIn, type Message, type OfferedTool, textOf, type Wire } from './neutral.ts'

interface Body {
  readonly stream?: boolean
  readonly system?: unknown
  readonly tools?: readonly {
    readonly name: string
    readonly description?: string
    readonly input_schema?: unknown
    readonly defer_loading?: boolean
  }[]
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[]
}

interface Block {
  readonly type: string
  readonly id?: string
  readonly name?: string
  readonly input?: Record<string, unknown>
  readonly tool_use_id?: string
  readonly content?: unknown
  readonly is_error?: boolean
}

/** Anthropic Messages. */
export const anthropic: Wire = {
  asks: (path) => path.endsWith('/v1/messages'),
  isStreamed: (_path, body) => (body as Body).stream === true,
  read(body, bytes) {
    const { system, tools = [], messages = [] } = body as Body
    return {
      system: textOf(system),
      tools: tools.map(
        ({ name, description = '', input_schema: parameters, defer_loading }): OfferedTool => ({
          name,
          description,
          parameters,
          ...(defer_loading === true && { isDeferred: true }),
        }),
      ),
      messages: messages.flatMap(({ role, content }) => entriesOf(role, content)),
      bytes,
      body,
    }
  },
  write(action, id, isStreamed) {
    const block = blockOf(action, id)
    const stop_reason = action.kind === 'say' ? 'end_turn' : 'tool_use'
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'lab', stop_sequence: null, usage }
    if (!isStreamed)
      return { type: 'application/json', body: JSON.stringify({ ...message, content: [block.complete], stop_reason }) }
    return eventStream(
      [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        { type: 'content_block_start', index: 0, content_block: block.start },
        { type: 'content_block_delta', index: 0, delta: block.delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } },
        { type: 'message_stop' },
      ].map((data) => ({ event: data.type, data })),
    )
  },
  aside: (path) => (path.endsWith('/count_tokens') ? { input_tokens: 1_000 } : undefined),
}

const usage = { input_tokens: 1_000, output_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

function entriesOf(role: string, content: unknown): readonly Message[] {
  if (!Array.isArray(content)) return [textMessage(role, content)]
  return content.map((block: Block): Message => {
    if (block.type === 'tool_use')
      return { kind: 'call', call: { id: block.id ?? '', name: block.name ?? '', arguments: block.input ?? {} } }
    if (block.type !== 'tool_result') return textMessage(role, [block])
    const { tool_use_id: id = '', content: inner, is_error } = block
    return { kind: 'result', result: { id, text: textOf(inner), isError: is_error === true, images: imagesIn(inner) } }
  })
}

function textMessage(role: string, content: unknown): Message {
  const text = textOf(content)
  return role === 'assistant' ? { kind: 'assistant', text } : { kind: 'user', text, images: imagesIn(content) }
}

function blockOf(action: Action, id: string) {
  if (action.kind === 'say')
    return {
      complete: { type: 'text', text: action.text },
      start: { type: 'text', text: '' },
      delta: { type: 'text_delta', text: action.text },
    }
  const call = { type: 'tool_use', id: `toolu_${id}`, name: action.name }
  return {
    complete: { ...call, input: action.arguments },
    start: { ...call, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(action.arguments) },
  }
}
