import type { Agent } from '../endpoint/endpoint.ts'
import type { Action, ModelRequest, OfferedTool } from '../endpoint/neutral.ts'
import { exchangesOf, readableText } from './tools.ts'

const listing = /list_?mcp_?resources(tool)?$/iu
const reading = /read_?(mcp_?)?resource(tool)?$/iu
const searches = ['ToolSearch', 'tool_search']
const bridge = 'tool_call'

/** An agent that lists resources with the host's own tools and reads the one whose URI contains `part`. */
export function resourceAgent(part: string): Agent {
  return (request) => {
    const texts = exchangesOf(request).map(({ result }) => result.text)
    const uri = texts
      .map((text) => new RegExp(`[\\w+.-]+://[^"\\\\\\s]*${part}[^"\\\\\\s,]*`, 'u').exec(text)?.[0])
      .find((each) => each !== undefined)
    const isDone = (pattern: RegExp): boolean =>
      exchangesOf(request).some(
        ({ name, arguments: args }) => pattern.test(name) || (name === bridge && pattern.test(String(args.name))),
      )
    if (isDone(reading)) return { kind: 'say', text: 'Done.' }
    if (uri !== undefined) return step(request, reading, { uri })
    return isDone(listing) ? { kind: 'say', text: 'Gave up: no resource.' } : step(request, listing, {})
  }
}

function step(request: ModelRequest, pattern: RegExp, args: Record<string, unknown>): Action {
  const listed = request.tools.find(({ name }) => pattern.test(name))
  if (listed !== undefined)
    return { kind: 'call', name: listed.name, arguments: { ...args, ...serverOf(JSON.stringify(listed.parameters)) } }
  const search = request.tools.find(({ name }) => searches.includes(name))
  const deferred = [...readableText(request).matchAll(/\w+/gu)].map(([word]) => word).find((word) => pattern.test(word))
  if (search === undefined || deferred === undefined) return { kind: 'say', text: 'Gave up: no tool for resources.' }
  const shown = exchangesOf(request).find(({ name, result }) => name === search.name && result.text.includes(deferred))
  if (shown === undefined) return { kind: 'call', name: search.name, arguments: { query: `select:${deferred}`, max_results: 5 } }
  return viaBridge(request, deferred, { ...args, ...serverOf(shown.result.text) })
}

function viaBridge({ tools }: ModelRequest, name: string, args: Record<string, unknown>): Action {
  const through: OfferedTool | undefined = tools.find((tool) => tool.name === bridge)
  return through === undefined
    ? { kind: 'call', name, arguments: args }
    : { kind: 'call', name: bridge, arguments: { name, arguments: args } }
}

/** Hosts use different parameter names for the server. */
function serverOf(parameters: string): Record<string, string> {
  const name = /"(server(_name)?)"/u.exec(parameters)?.[1]
  return name === undefined ? {} : { [name]: 'unfold' }
}
