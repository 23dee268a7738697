import type { CallToolResult } from '@modelcontextprotocol/server'
import { estimateTokens, facetOf, nearest, nearestHint, printable, signature, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from '../entry.ts'
import { failureResult } from '../result.ts'
import type { Runtime } from './runtime.ts'
import type { Scope } from './scope.ts'
import type { Found } from './tool-search.ts'

/** How much of each tool an answer shows. */
export type Detail = 'names' | 'signatures' | 'full'

/** What to look for, and among what. */
export interface SearchRequest {
  readonly query: string
  readonly limit?: number
  readonly detail?: Detail
  readonly group?: string
  readonly tags?: readonly string[]
  readonly readOnly?: boolean
}

export const mostMatches = 50
const usualMatches = 5

/** The tools that match, best first, in as few words as they can be called from; or how to ask better. */
export function searchReply(runtime: Runtime, scope: Scope, request: SearchRequest): CallToolResult {
  const { query, detail = 'signatures' } = request
  const entries = runtime.views.whole(scope).entries.filter((entry) => isAskedFor(entry, request))
  if (query.trim() === '') return browseReply(entries)
  const allowed = new Set(entries)
  const limit = Math.min(mostMatches, Math.max(1, Math.trunc(request.limit ?? usualMatches) || usualMatches))
  const found = runtime.search(scope, query, { allowed: (entry) => allowed.has(entry), limit })
  const tools = found.confidence === 'none' ? [] : found.matches.map(({ entry }) => entry.tool)
  return withCost([headline(query, found, tools.length, entries.length), ...tools.map((tool) => shownIn(detail, tool))], {
    total: entries.length,
    confidence: found.confidence,
    names: tools.map(({ name }) => name),
  })
}

/** The full definitions of these tools. */
export function describeReply(runtime: Runtime, scope: Scope, names: readonly string[]): CallToolResult {
  const known = new Map(runtime.views.whole(scope).tools.map((tool) => [tool.name, tool]))
  const asked = [...new Set(names)]
  const tools = asked.flatMap((name) => known.get(name) ?? [])
  const unknown = asked.filter((name) => !known.has(name)).map((name) => unknownLine(name, known.keys()))
  if (tools.length === 0) return failureResult('unknown_tool', [...unknown, 'Use search_tools to find tools.'].join('\n'))
  return withCost([...tools.map((tool) => shownIn('full', tool)), ...unknown], { names: tools.map(({ name }) => name) })
}

/** "There is no tool …" with the nearest names that this reader may know of. */
export function unknownLine(name: string, known: Iterable<string>): string {
  return `There is no tool "${printable(name)}".${nearestHint(nearest(name, known))}`
}

/** Lines as a result that says what it costs to read. */
export function withCost(lines: readonly string[], data: Record<string, unknown>): CallToolResult {
  const text = lines.join('\n')
  return { content: [{ type: 'text', text }], structuredContent: { ...data, cost: estimateTokens(text) } }
}

export const shownIn = (detail: Detail, tool: Tool): string =>
  detail === 'full' ? JSON.stringify(tool) : detail === 'names' ? `- ${tool.name}` : `- ${signature(tool)}`

function isAskedFor({ tool, tags, visibility }: ToolEntry, request: SearchRequest): boolean {
  if (request.group !== undefined && visibility.group !== request.group) return false
  if (request.tags !== undefined && request.tags.length > 0 && !request.tags.some((tag) => tags.includes(tag))) return false
  return request.readOnly !== true || facetOf(tool) === 'read-only'
}

const howToAsk = 'Ask for one thing at a time and name the app, the verb and the object, such as "calendar create event"; an empty query lists what there is.'

function headline(query: string, { confidence, unmatched }: Found, shown: number, total: number): string {
  if (shown === 0) return `None of ${total} tools does "${printable(query)}". ${howToAsk}`
  const count = `${shown} of ${total} tools`
  if (confidence === 'strong') return `${count}:`
  const unheard = unmatched.length === 0 ? '' : ` No tool mentions ${unmatched.slice(0, 5).map((word) => `"${printable(word, 40)}"`).join(', ')}.`
  return `${count}, none of which may be what you want.${unheard} ${howToAsk}`
}

const namedPerGroup = 12
const listedGroups = 40

/** What there is, group by group. */
function browseReply(entries: readonly ToolEntry[]): CallToolResult {
  const byGroup = new Map<string, string[]>()
  for (const { tool, visibility } of entries) {
    const group = visibility.group ?? ''
    byGroup.set(group, [...(byGroup.get(group) ?? []), tool.name])
  }
  const lines = [...byGroup].slice(0, listedGroups).map(([group, names]) => {
    const more = names.length > namedPerGroup ? `, … ${names.length - namedPerGroup} more` : ''
    return `- ${group === '' ? 'without a group' : group} (${names.length}): ${names.slice(0, namedPerGroup).join(', ')}${more}`
  })
  const rest = byGroup.size > listedGroups ? [`- … and ${byGroup.size - listedGroups} more groups`] : []
  return withCost([`${entries.length} tools:`, ...lines, ...rest], { total: entries.length, confidence: 'strong', names: [] })
}
