import type { CallToolResult } from '@modelcontextprotocol/server'
import {
  counted,
  estimateTokens,
  facetOf,
  gateName,
  maxNearestWork,
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
import { fallbackMessages } from '../../search/fallback.ts'
import type { ToolSearchResult } from '../../search/tool-index.ts'
import type { ToolEntry } from '../../tool/entry.ts'
import { failureResult } from '../../tool/result.ts'
import { surfaceResult } from '../calling/discovery-result.ts'

type Detail = 'names' | 'signatures' | 'full'

export interface SearchRequest {
  readonly query: string
  readonly limit?: number
  readonly detail?: Detail
  readonly group?: string
  readonly tags?: readonly string[]
  readonly readOnly?: boolean
}

export const defaultMatches = 5

/** `search_tools`: the best matches first, short enough to read and complete enough to call; or advice on how to ask. */
export async function searchTools(
  runtime: Runtime,
  scope: Scope,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<CallToolResult> {
  const { query } = request
  checkGroup(runtime, scope, request.group)
  const entries = discoverable(runtime, scope).entries.filter((entry) => isAskedFor(entry, request))
  if (query.trim() === '') return browseReply(entries)
  const limit = Math.min(maxMatches, Math.max(1, request.limit ?? defaultMatches))
  const { catalog } = runtime.catalogs.of(scope)
  const isShared = scope.scopedServer === undefined
  const found = await runtime.slots.search({
    scope,
    signal,
    run: () => runtime.search.search(scope, { catalog, isShared, query, among: entries, limit, signal }),
  })
  return searchReply(request, found, entries)
}

/** What the model reads after a search. */
export function searchReply(
  { query, detail = 'signatures', limit }: SearchRequest,
  found: ToolSearchResult,
  entries: readonly ToolEntry[],
): CallToolResult {
  const matches = shownMatches(found, limit)
  const tools = matches.map(({ entry }) => entry.tool)
  const { fallback } = found
  const note = fallback === undefined ? [] : [fallbackMessages[fallback]]
  return withCost(
    [
      headline(query, found, tools.length, entries),
      ...matches.map(({ entry, clones }) => `${formatTool(detail, entry.tool)}${clonesHint(clones)}`),
      ...note,
    ],
    {
      total: entries.length,
      confidence: found.confidence,
      names: tools.map(({ name }) => name),
      ...(fallback !== undefined && { fallback }),
    },
  )
}

/** `describe_tools`: full definitions. `finder` is where to look for tools if none of the names exists. */
export function describeTools(runtime: Runtime, scope: Scope, names: readonly string[], finder = 'search_tools'): CallToolResult {
  const { tools, unknown } = askedTools(runtime, scope, names)
  if (tools.length === 0) return noneOf(unknown, finder)
  return withCost([...tools.map((tool) => formatTool('full', tool)), ...unknown], { names: tools.map(({ name }) => name) })
}

/** The tools with these names that this scope may learn of, and a line for each other name. `known`: the names of all its tools. */
export function askedTools(
  runtime: Runtime,
  scope: Scope,
  names: readonly string[],
): { readonly tools: readonly Tool[]; readonly unknown: readonly string[]; readonly known: ReadonlySet<string> } {
  const known = new Map(discoverable(runtime, scope).tools.map((tool) => [tool.name, tool]))
  const asked = [...new Set(names)]
  const unknown = asked.filter((name) => !known.has(name))
  return {
    tools: asked.flatMap((name) => known.get(name) ?? []),
    unknown: unknownLines(unknown, [...known.keys()]),
    known: new Set(known.keys()),
  }
}

export const noneOf = (unknown: readonly string[], finder: string): CallToolResult =>
  failureResult('unknown_tool', [...unknown, `Find tools with ${finder}.`].join('\n'))

export function unknownLine(name: string, known: Iterable<string>, maxWork = maxNearestWork): string {
  return `Unknown tool "${printable(name)}".${nearestHint(nearest(name, known, 3, maxWork))}`
}

// More than this many do not help.
const maxUnknown = 10

/** The names share the work of one search, so that many unknown names take no longer than one. */
export function unknownLines(names: readonly string[], known: readonly string[]): readonly string[] {
  const shown = names.slice(0, maxUnknown)
  const lines = shown.map((name) => unknownLine(name, known, Math.ceil(maxNearestWork / shown.length)))
  return names.length > maxUnknown ? [...lines, `… and ${names.length - maxUnknown} more unknown names.`] : lines
}

/** Throws for a group that this client may not know of. */
export function checkGroup(runtime: Runtime, scope: Scope, group: string | undefined): void {
  if (group === undefined) return
  const { groups } = readerFor(runtime, scope)
  if (!groups.has(group)) throw unknownGroup(group, groups)
}

export function withCost(lines: readonly string[], data: Record<string, unknown>): CallToolResult {
  const text = lines.join('\n')
  return surfaceResult(text, { ...data, cost: estimateTokens(text) })
}

/** Low-confidence matches are mostly wrong, so fewer of them are shown. */
const weakMatches = 3

function shownMatches({ confidence, matches }: ToolSearchResult, limit: number | undefined): ToolSearchResult['matches'] {
  if (confidence === 'none') return []
  return confidence === 'weak' && limit === undefined ? matches.slice(0, weakMatches) : matches
}

const maxClones = 3

function clonesHint(clones: readonly ToolEntry[] = []): string {
  if (clones.length === 0) return ''
  const names = clones.slice(0, maxClones).map(({ tool }) => tool.name)
  return ` (+${clones.length} similar: ${names.join(', ')}${clones.length > maxClones ? ', …' : ''})`
}

const formatTool = (detail: Detail, tool: Tool): string =>
  detail === 'full' ? JSON.stringify(tool) : detail === 'names' ? `- ${tool.name}` : `- ${signature(tool)}`

function isAskedFor({ tool, tags, visibility }: ToolEntry, request: SearchRequest): boolean {
  if (request.group !== undefined && visibility.group !== request.group) return false
  if (request.tags !== undefined && request.tags.length > 0 && !request.tags.some((tag) => tags.includes(tag))) return false
  return request.readOnly !== true || facetOf(tool) === 'read-only'
}

const howToAsk =
  'Ask for one thing at a time and name the app, the verb and the object, such as "calendar create event"; an empty query lists all tools.'

function headline(
  query: string,
  { confidence, unmatched }: ToolSearchResult,
  matches: number,
  entries: readonly ToolEntry[],
): string {
  if (matches === 0) {
    return `No match for "${printable(query)}" among ${counted(entries.length, 'tool')}.${coverage(entries)} ${howToAsk}`
  }
  const count = `${matches} of ${counted(entries.length, 'tool')}`
  if (confidence === 'strong') return `${count}:`
  const missing =
    unmatched.length === 0
      ? ''
      : ` No tool mentions ${unmatched
          .slice(0, 5)
          .map((word) => `"${printable(word, 40)}"`)
          .join(', ')}.`
  return `Low-confidence matches (${count}).${missing} ${howToAsk}`
}

const maxCoveredGroups = 12

/** Names the groups, so that a model knows whether another query can help. */
function coverage(entries: readonly ToolEntry[]): string {
  const groups = [...namesByGroup(entries)].filter(([group]) => group !== '').sort(([, a], [, b]) => b.length - a.length)
  if (groups.length === 0) return ''
  const names = groups.slice(0, maxCoveredGroups).map(([group, tools]) => `${group} (${tools.length})`)
  return ` The tools cover: ${names.join(', ')}${groups.length > maxCoveredGroups ? `, and ${groups.length - maxCoveredGroups} more groups` : ''}.`
}

const maxNamesPerGroup = 12
const maxGroups = 40

/** Tool names by group; '' for tools without one. */
function namesByGroup(entries: readonly ToolEntry[]): ReadonlyMap<string, readonly string[]> {
  const byGroup = new Map<string, string[]>()
  for (const { tool, visibility } of entries) {
    const group = visibility.group === gateName ? '' : (visibility.group ?? '')
    const names = byGroup.get(group)
    if (names === undefined) byGroup.set(group, [tool.name])
    else names.push(tool.name)
  }
  return byGroup
}

/** Lists all tools by group. */
function browseReply(entries: readonly ToolEntry[]): CallToolResult {
  const byGroup = namesByGroup(entries)
  const lines = [...byGroup].slice(0, maxGroups).map(([group, names]) => {
    const more = names.length > maxNamesPerGroup ? `, … ${names.length - maxNamesPerGroup} more` : ''
    return `- ${group === '' ? 'without a group' : group} (${names.length}): ${names.slice(0, maxNamesPerGroup).join(', ')}${more}`
  })
  const rest = byGroup.size > maxGroups ? [`- … and ${counted(byGroup.size - maxGroups, 'more group')}`] : []
  return withCost([`${counted(entries.length, 'tool')}:`, ...lines, ...rest], {
    total: entries.length,
    confidence: 'strong',
    names: [],
  })
}
