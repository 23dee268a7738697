import type { Action, ModelRequest, OfferedTool } from '../endpoint/neutral.ts'
import { exchangesOf } from './tools.ts'

const names = ['ToolSearch', 'tool_search', 'tool_search_tool']

/** Returns whether this is the host's search tool for deferred tools. */
export function isHostSearch(name: string): boolean {
  return names.includes(name)
}

/** Calls the host's own search, if any, unless it already got the same query. */
export function searchHost(request: ModelRequest, query: string): Action | undefined {
  const search = hostSearch(request)
  if (search === undefined) return undefined
  const key = takesPattern(search) ? 'pattern' : 'query'
  const isAsked = exchangesOf(request).some((each) => each.name === search.name && each.arguments[key] === query)
  return isAsked ? undefined : { kind: 'call', name: search.name, arguments: { [key]: query, max_results: 5 } }
}

/** Calls the host's own search for known tool names. */
export function selectInHost(request: ModelRequest, wanted: readonly string[]): Action | undefined {
  const search = hostSearch(request)
  if (search === undefined) return undefined
  return searchHost(request, takesPattern(search) ? `^(${wanted.join('|')})$` : `select:${wanted.join(',')}`)
}

/** Finds the host's own search among the tools of a request. */
export function hostSearch({ tools }: ModelRequest): OfferedTool | undefined {
  return tools.find(({ name }) => isHostSearch(name))
}

/** Returns whether a search takes a regular expression. */
function takesPattern({ parameters }: OfferedTool): boolean {
  const { properties = {} } = (parameters ?? {}) as { readonly properties?: object }
  return Object.hasOwn(properties, 'pattern')
}
