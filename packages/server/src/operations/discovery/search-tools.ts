import type { CallToolResult } from '@modelcontextprotocol/server'
import {
  counted,
  estimateTokens,
  facetOf,
  gateName,
  nearest,
  nearestHint,
  printable,
  signature,
  type Tool,
  unknownGroup,
} from '@unfold-mcp/core'
import { maxMatches } from '../../catalog/discovery-tools.ts'
import { discoverable } from '../../runtime/discoverable.ts'
import { readerFor } from '../../runtime/groups.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import { fallbackLines } from '../../search/fallback.ts'
import type { Found } from '../../search/tool-index.ts'
import type { ToolEntry } from '../../tool/entry.ts'
import { failureResult } from '../../tool/result.ts'
import { surfaceResult } from '../calling/discovery-result.ts'

/** How much of each tool an answer shows. */
type Detail = 'names' | 'signatures' | 'full'

/** What to look for, and among what. */
export interface SearchRequest {
  readonly query: string
  readonly limit?: number
  readonly detail?: Detail
  readonly group?: string
  readonly tags?: readonly string[]
  readonly readOnly?: boolean
}

const defaultMatches = 5

/** The tools that match, best first, in as few words as they can be called from; or how to ask better. */
export async function searchTools(
  runtime: Runtime,
  scope: Scope,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<CallToolResult> {
  const { query, detail = 'signatures' } = request
  checkGroup(runtime, scope, request.group)
  const entries = discoverable(runtime, scope).entries.filter((entry) => isAskedFor(entry, request))
  if (query.trim() === '') return browseReply(entries)
  const limit = Math.min(maxMatches, Math.max(1, request.limit ?? defaultMatches))
  const { catalog } = runtime.catalogs.of(scope)
  const isShared = scope.scopedServer === undefined
  const found = await runtime.search.search(scope, { catalog, isShared, query, among: entries, limit, signal })
  const tools = found.confidence === 'none' ? [] : found.matches.map(({ entry }) => entry.tool)
  const { fallback } = found
  const note = fallback === undefined ? [] : [fallbackLines[fallback]]
  return withCost(
    [headline(query, found, tools.length, entries.length), ...tools.map((tool) => shownIn(detail, tool)), ...note],
    {
      total: entries.length,
      confidence: found.confidence,
      names: tools.map(({ name }) => name),
      ...(fallback !== undefined && { fallback }),
    },
  )
}

/** The full definitions of these tools; `finder` is what a reader who named none that exist is sent to. */
export function describeTools(runtime: Runtime, scope: Scope, names: readonly string[], finder = 'search_tools'): CallToolResult {
  const known = new Map(discoverable(runtime, scope).tools.map((tool) => [tool.name, tool]))
  const asked = [...new Set(names)]
  const tools = asked.flatMap((name) => known.get(name) ?? [])
  const unknown = unknownLines(
    asked.filter((name) => !known.has(name)),
    [...known.keys()],
  )
  if (tools.length === 0) return failureResult('unknown_tool', [...unknown, `Find tools with ${finder}.`].join('\n'))
  return withCost([...tools.map((tool) => shownIn('full', tool)), ...unknown], { names: tools.map(({ name }) => name) })
}

/** "There is no tool …" with the nearest names that this reader may know of. */
export function unknownLine(name: string, known: Iterable<string>): string {
  return `There is no tool "${printable(name)}".${nearestHint(nearest(name, known))}`
}

// Looking for the nearest of thousands of names takes a while, and a reader who missed this many is not helped by more.
const mostUnknown = 10

/** The same for many names. */
export function unknownLines(names: readonly string[], known: readonly string[]): readonly string[] {
  const lines = names.slice(0, mostUnknown).map((name) => unknownLine(name, known))
  return names.length > mostUnknown ? [...lines, `Nor are there ${names.length - mostUnknown} others that you named.`] : lines
}

/** Refuses a group that this reader may not know of. */
export function checkGroup(runtime: Runtime, scope: Scope, group: string | undefined): void {
  if (group === undefined) return
  const { groups } = readerFor(runtime, scope)
  if (!groups.has(group)) throw unknownGroup(group, groups)
}

/** A reply of these lines, with its cost in tokens in the data. */
export function withCost(lines: readonly string[], data: Record<string, unknown>): CallToolResult {
  const text = lines.join('\n')
  return surfaceResult(text, { ...data, cost: estimateTokens(text) })
}

const shownIn = (detail: Detail, tool: Tool): string =>
  detail === 'full' ? JSON.stringify(tool) : detail === 'names' ? `- ${tool.name}` : `- ${signature(tool)}`

function isAskedFor({ tool, tags, visibility }: ToolEntry, request: SearchRequest): boolean {
  if (request.group !== undefined && visibility.group !== request.group) return false
  if (request.tags !== undefined && request.tags.length > 0 && !request.tags.some((tag) => tags.includes(tag))) return false
  return request.readOnly !== true || facetOf(tool) === 'read-only'
}

const howToAsk =
  'Ask for one thing at a time and name the app, the verb and the object, such as "calendar create event"; an empty query lists what there is.'

function headline(query: string, { confidence, unmatched }: Found, shown: number, total: number): string {
  if (shown === 0) {
    const none = total === 1 ? 'The only tool does not do' : `None of ${total} tools does`
    return `${none} "${printable(query)}". ${howToAsk}`
  }
  const count = `${shown} of ${counted(total, 'tool')}`
  if (confidence === 'strong') return `${count}:`
  const unheard =
    unmatched.length === 0
      ? ''
      : ` No tool mentions ${unmatched
          .slice(0, 5)
          .map((word) => `"${printable(word, 40)}"`)
          .join(', ')}.`
  return `${count}, none of which may be what you want.${unheard} ${howToAsk}`
}

const namedPerGroup = 12
const listedGroups = 40

/** What there is, group by group. */
function browseReply(entries: readonly ToolEntry[]): CallToolResult {
  const byGroup = new Map<string, string[]>()
  for (const { tool, visibility } of entries) {
    const group = visibility.group === gateName ? '' : (visibility.group ?? '')
    const names = byGroup.get(group)
    if (names === undefined) byGroup.set(group, [tool.name])
    else names.push(tool.name)
  }
  const lines = [...byGroup].slice(0, listedGroups).map(([group, names]) => {
    const more = names.length > namedPerGroup ? `, … ${names.length - namedPerGroup} more` : ''
    return `- ${group === '' ? 'without a group' : group} (${names.length}): ${names.slice(0, namedPerGroup).join(', ')}${more}`
  })
  const rest = byGroup.size > listedGroups ? [`- … and ${counted(byGroup.size - listedGroups, 'more group')}`] : []
  return withCost([`${counted(entries.length, 'tool')}:`, ...lines, ...rest], {
    total: entries.length,
    confidence: 'strong',
    names: [],
  })
}
