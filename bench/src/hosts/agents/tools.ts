import type { Message, ModelRequest, OfferedTool, ReceivedResult } from '../endpoint/neutral.ts'

/**
 * Returns whether a host's name for a tool matches: hosts add the server name and more as a prefix, and some collapse several
 * underscores into one.
 */
export function isNamed(offered: string, name: string): boolean {
  const [whole, own] = [singleUnderscores(offered), singleUnderscores(name)]
  return whole === own || (whole.endsWith(own) && /[^A-Za-z0-9]$/u.test(whole.slice(0, -own.length)))
}

function singleUnderscores(name: string): string {
  return name.replaceAll(/_+/gu, '_')
}

/** Finds a tool that the model can call now. A deferred tool can be called once the host's own search has returned it. */
export function listedTool(request: ModelRequest, name: string): OfferedTool | undefined {
  const isShown = (tool: OfferedTool): boolean =>
    tool.isDeferred !== true || exchangesOf(request).some(({ result }) => result.text.includes(tool.name))
  return request.tools.find((tool) => isNamed(tool.name, name) && isShown(tool))
}

/** A call with its result. */
export interface Exchange {
  readonly name: string
  readonly arguments: Record<string, unknown>
  readonly result: ReceivedResult
}

/** Returns all calls of the conversation that have a result, in order. */
export function exchangesOf({ messages }: ModelRequest): readonly Exchange[] {
  const calls = messages.flatMap((each) => (each.kind === 'call' ? [each.call] : []))
  const results = messages.flatMap((each) => (each.kind === 'result' ? [each.result] : []))
  return calls.flatMap(({ id, name, arguments: args }) => {
    const result = results.find((each) => each.id === id)
    return result === undefined ? [] : [{ name, arguments: args, result }]
  })
}

/** Returns all text that the model can read, except tool definitions. */
export function readableText({ system, messages }: ModelRequest): string {
  return [system, ...messages.map(textOfMessage)].join('\n')
}

function textOfMessage(message: Message): string {
  if (message.kind === 'call') return ''
  return message.kind === 'result' ? message.result.text : message.text
}
