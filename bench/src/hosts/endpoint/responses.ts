import { type Action, eventStream, imagesIn, type Message, type OfferedTool, textOf, type Wire } from './neutral.ts'

interface Definition {
  readonly type: string
  readonly name?: string
  readonly description?: string
  readonly parameters?: unknown
  readonly tools?: readonly Definition[]
  readonly defer_loading?: boolean
}

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: unknown
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: string
  readonly input?: string
  readonly output?: unknown
}

interface Body {
  readonly stream?: boolean
  readonly instructions?: string
  readonly tools?: readonly Definition[]
  readonly input?: readonly Item[] | string
}

/** OpenAI Responses. */
export const responses: Wire = {
  asks: (path) => path.endsWith('/responses'),
  isStreamed: (_path, body) => (body as Body).stream === true,
  read(body, bytes) {
    const { instructions = '', tools = [], input = [] } = body as Body
    const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input
    const isSystem = ({ role }: Item): boolean => role === 'system' || role === 'developer'
    return {
      // A namespace has a description, which hosts use for the server's instructions.
      system: [
        instructions,
        ...items.filter(isSystem).map(({ content }) => textOf(content)),
        ...tools.filter(({ type }) => type === 'namespace').map(({ description = '' }) => description),
      ].join('\n'),
      tools: tools.flatMap((tool) => offered(tool)),
      messages: items.filter((item) => !isSystem(item)).flatMap(entryOf),
      bytes,
      body,
    }
  },
  write(action, id, isStreamed) {
    const item = itemOf(action, id)
    const response = { id: `resp_${id}`, object: 'response', model: 'lab', created_at: 0 }
    const completed = { ...response, status: 'completed', output: [item], usage }
    if (!isStreamed) return { type: 'application/json', body: JSON.stringify(completed) }
    return eventStream(
      [
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: completed },
      ].map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } })),
    )
  },
  aside: (path) => (path.endsWith('/models') ? { object: 'list', data: [], models: [] } : undefined),
}

const usage = {
  input_tokens: 1_000,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1_010,
}

function offered(tool: Definition, namespace?: Definition): readonly OfferedTool[] {
  if (tool.type === 'namespace') return (tool.tools ?? []).flatMap((each) => offered(each, tool))
  return [
    {
      name: tool.name ?? tool.type,
      ...(namespace?.name !== undefined && { namespace: namespace.name }),
      description: tool.description ?? '',
      parameters: tool.parameters,
      ...(tool.defer_loading === true && { isDeferred: true }),
    },
  ]
}

function entryOf(item: Item): readonly Message[] {
  const { type = 'message', role, content, call_id: id = '', name = '', output } = item
  if (type === 'message') {
    const text = textOf(content)
    return [role === 'assistant' ? { kind: 'assistant', text } : { kind: 'user', text, images: imagesIn(content) }]
  }
  if (type === 'function_call') {
    return [{ kind: 'call', call: { id, name, arguments: JSON.parse(item.arguments ?? '{}') as Record<string, unknown> } }]
  }
  // The format has no flag for a failed call.
  if (type.endsWith('_output')) {
    return [{ kind: 'result', result: { id, text: textOf(output ?? item), isError: false, images: imagesIn(output) } }]
  }
  return []
}

function itemOf(action: Action, id: string): object {
  if (action.kind === 'say') {
    const content = [{ type: 'output_text', text: action.text, annotations: [] }]
    return { type: 'message', id: `msg_${id}`, status: 'completed', role: 'assistant', content }
  }
  return {
    type: 'function_call',
    id: `fc_${id}`,
    status: 'completed',
    call_id: `call_${id}`,
    name: action.name,
    ...(action.namespace !== undefined && { namespace: action.namespace }),
    arguments: JSON.stringify(action.arguments),
  }
}
