import { type Action, eventStream, type Message, type OfferedTool, type Wire } from './neutral.ts'

interface Part {
  readonly text?: string
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: Record<string, unknown> }
  readonly functionResponse?: {
    readonly id?: string
    readonly name: string
    readonly response?: object
    readonly parts?: readonly Part[]
  }
  readonly inlineData?: object
}

interface Content {
  readonly role?: string
  readonly parts?: readonly Part[]
}

interface Body {
  readonly contents?: readonly Content[]
  readonly systemInstruction?: Content
  readonly generationConfig?: { readonly responseJsonSchema?: object; readonly responseSchema?: object }
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly {
      readonly name: string
      readonly description?: string
      readonly parameters?: unknown
      readonly parametersJsonSchema?: unknown
    }[]
  }[]
}

/** Gemini: generateContent and streamGenerateContent. */
export const gemini: Wire = {
  asks: (path) => /:(stream)?generateContent$/iu.test(path),
  isStreamed: (path) => path.endsWith(':streamGenerateContent'),
  read(body, bytes) {
    const { contents = [], systemInstruction, generationConfig = {}, tools = [] } = body as Body
    const replySchema = generationConfig.responseJsonSchema ?? generationConfig.responseSchema
    return {
      system: textIn(systemInstruction?.parts),
      tools: tools
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
        .map(
          ({ name, description = '', parameters, parametersJsonSchema }): OfferedTool => ({
            name,
            description,
            parameters: parametersJsonSchema ?? parameters,
          }),
        ),
      messages: contents.flatMap(entriesOf),
      ...(replySchema !== undefined && { replySchema }),
      bytes,
      body,
    }
  },
  write(action, id, isStreamed) {
    const reply = {
      candidates: [{ index: 0, content: { role: 'model', parts: [partOf(action, id)] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 10, totalTokenCount: 1_010 },
      modelVersion: 'lab',
      responseId: id,
    }
    return isStreamed ? eventStream([{ data: reply }]) : { type: 'application/json', body: JSON.stringify(reply) }
  },
  aside: (path) => (path.endsWith(':countTokens') ? { totalTokens: 1_000 } : undefined),
}

function entriesOf({ role, parts = [] }: Content): readonly Message[] {
  const entries: Message[] = []
  // A result names its tool; without ids, results match calls in order.
  for (const part of parts) {
    const { functionCall: call, functionResponse: response } = part
    if (call !== undefined) {
      entries.push({ kind: 'call', call: { id: call.id ?? call.name, name: call.name, arguments: call.args ?? {} } })
    } else if (response !== undefined) {
      const { id = response.name, response: value = {}, parts: more = [] } = response
      const images = [...more, ...parts].filter(({ inlineData }) => inlineData !== undefined).length
      entries.push({ kind: 'result', result: { id, text: valueText(value), isError: 'error' in value, images } })
    } else if (part.text !== undefined) {
      entries.push(role === 'model' ? { kind: 'assistant', text: part.text } : { kind: 'user', text: part.text, images: 0 })
    }
  }
  return entries
}

/** Returns the text of a response, which hosts put under `output` or `error`. */
function valueText(value: { readonly output?: unknown; readonly error?: unknown }): string {
  const inner = value.output ?? value.error
  return typeof inner === 'string' ? inner : JSON.stringify(value)
}

function textIn(parts: readonly Part[] = []): string {
  return parts.map(({ text = '' }) => text).join('\n')
}

function partOf(action: Action, id: string): Part {
  if (action.kind === 'say') return { text: action.text }
  return { functionCall: { id: `call_${id}`, name: action.name, args: action.arguments } }
}
