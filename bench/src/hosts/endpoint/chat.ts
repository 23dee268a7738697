import { type Action, eventStream, imagesIn, type Message, textOf, type Wire } from './neutral.ts'

interface Body {
  readonly stream?: boolean
  readonly tools?: readonly {
    readonly function?: { readonly name: string; readonly description?: string; readonly parameters?: unknown }
  }[]
  readonly messages?: readonly Entry[]
}

interface Entry {
  readonly role: string
  readonly content?: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

/** OpenAI Chat Completions. */
export const chat: Wire = {
  asks: (path) => path.endsWith('/chat/completions'),
  isStreamed: (_path, body) => (body as Body).stream === true,
  read(body, bytes) {
    const { tools = [], messages = [] } = body as Body
    const isSystem = ({ role }: Entry): boolean => role === 'system' || role === 'developer'
    return {
      system: messages
        .filter(isSystem)
        .map(({ content }) => textOf(content))
        .join('\n'),
      tools: tools.flatMap(({ function: definition }) =>
        definition === undefined
          ? []
          : [{ name: definition.name, description: definition.description ?? '', parameters: definition.parameters }],
      ),
      messages: messages.filter((entry) => !isSystem(entry)).flatMap(entriesOf),
      bytes,
      body,
    }
  },
  write(action, id, isStreamed) {
    const finish_reason = action.kind === 'say' ? 'stop' : 'tool_calls'
    const head = { id: `chatcmpl-${id}`, created: 0, model: 'lab' }
    const message = { role: 'assistant', ...contentOf(action, id) }
    if (!isStreamed) {
      const completion = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage }
      return { type: 'application/json', body: JSON.stringify(completion) }
    }
    const chunk = (choice: object): object => ({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })
    const chunks = [chunk({ delta: message, finish_reason: null }), { ...chunk({ delta: {}, finish_reason }), usage }]
    return eventStream([...chunks.map((data) => ({ data })), { data: '[DONE]' }])
  },
  aside: (path) => (path.endsWith('/models') ? { object: 'list', data: [{ id: 'lab', object: 'model' }] } : undefined),
}

const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 }

function entriesOf({ role, content, tool_call_id: id = '', tool_calls: calls = [] }: Entry): readonly Message[] {
  const text = textOf(content)
  // The format has no flag for a failed call.
  if (role === 'tool') return [{ kind: 'result', result: { id, text, isError: false, images: imagesIn(content) } }]
  if (role !== 'assistant') return [{ kind: 'user', text, images: imagesIn(content) }]
  return [
    ...(text === '' ? [] : [{ kind: 'assistant' as const, text }]),
    ...calls.map(
      ({ id: made, function: { name, arguments: json } }): Message => ({
        kind: 'call',
        call: { id: made, name, arguments: JSON.parse(json) as Record<string, unknown> },
      }),
    ),
  ]
}

function contentOf(action: Action, id: string): object {
  if (action.kind === 'say') return { content: action.text }
  const call = { name: action.name, arguments: JSON.stringify(action.arguments) }
  return { content: null, tool_calls: [{ index: 0, id: `call_${id}`, type: 'function', function: call }] }
}
