import type { CallToolResult } from '@modelcontextprotocol/server'
import { counted, firstSentence, isStrict, pageOf, signature, surfaceNames, type Tool } from '@unfold-mcp/core'
import { activateAll, deactivate, setTools } from '../../runtime/activation.ts'
import { discoverable } from '../../runtime/discoverable.ts'
import { readerFor } from '../../runtime/groups.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import type { ToolEntry } from '../../tool/entry.ts'
import { failureResult } from '../../tool/result.ts'
import type { Transition } from '../../tool/transition.ts'
import { callThem, transitionText } from '../calling/transition-reply.ts'
import type { DiscoveryCall } from './discovery-call.ts'
import { checkGroup, describeTools, searchTools, unknownLines, withCost } from './search-tools.ts'

export interface ManageRequest {
  readonly action: 'list' | 'search' | 'describe' | 'enable' | 'disable' | 'reset' | 'status'
  readonly tools?: readonly string[]
  readonly query?: string
  readonly group?: string
  readonly tag?: string
  readonly cursor?: string
}

/** `manage_tools`. */
export async function manageTools(
  request: ManageRequest,
  { runtime, scope, call, effects }: DiscoveryCall,
): Promise<CallToolResult> {
  const names = request.tools ?? []
  switch (request.action) {
    case 'list':
      return listReply(runtime, scope, request)
    case 'search':
      return searchTools(runtime, scope, searchOf(request), call.signal ?? call.controller?.signal)
    case 'describe':
      return describeTools(runtime, scope, names, 'the action "search"')
    case 'status':
      return statusReply(runtime, scope)
    case 'reset': {
      const transition = await setTools(runtime, scope, () => [])
      effects.transitions.push(transition)
      return withCost([transitionText(transition, [], 'Nothing was enabled.')], { disabled: transition.disappeared })
    }
    default:
      return switched(request.action, names, { runtime, scope, effects })
  }
}

const searchOf = ({ query = '', group, tag }: ManageRequest) => ({
  query,
  ...(group !== undefined && { group }),
  ...(tag !== undefined && { tags: [tag] }),
})

/** Enables or disables tools and the tools of groups. Unknown names are reported and do not prevent the rest. */
async function switched(
  action: 'enable' | 'disable',
  names: readonly string[],
  { runtime, scope, effects }: Pick<DiscoveryCall, 'runtime' | 'scope' | 'effects'>,
): Promise<CallToolResult> {
  if (names.length === 0) return failureResult('invalid_arguments', `"tools" is missing. List the tools or groups to ${action}.`)
  const { entries, unknown, own } = sorted(runtime, scope, names)
  const known = [...entries.keys()]
  const lines = own.map((name) => `"${name}" cannot be ${action}d: it is always available.`)
  if (known.length === 0 && unknown.length === 0) return failureResult('invalid_arguments', lines.join('\n'))
  if (known.length === 0)
    return failureResult('unknown_tool', [...lines, ...unknown, 'Use action "list" or "search" to find names.'].join('\n'))
  if (!scope.settings.canActivate)
    return withCost([...lines, ...fixedLines([...entries.values()]), ...unknown], { [`${action}d`]: [] })
  const made: Transition[] = []
  const make = async (work: Promise<Transition>): Promise<void> => {
    const transition = await work
    made.push(transition)
    effects.transitions.push(transition)
  }
  await make(
    setTools(runtime, scope, (tools) =>
      action === 'enable' ? [...new Set([...tools, ...known])] : tools.filter((name) => !entries.has(name)),
    ),
  )
  const groups = preparedGroups(runtime, scope, [...entries.values()])
  if (action === 'enable' && groups.length > 0) await make(activateAll(runtime, scope, groups))
  if (action === 'disable') for (const group of idle(runtime, scope, groups)) await make(deactivate(runtime, scope, group))
  const texts = made.filter(({ changed }) => changed).map((transition) => transitionText(transition, [], ''))
  const again = scope.missesChanges && action === 'enable' ? ` ${callThem}` : ''
  lines.push(...(texts.length > 0 ? texts : [`Already ${action}d: ${known.slice(0, mostNamed).join(', ')}.${again}`]))
  if (action === 'disable') lines.push(...stillListed(runtime, scope, entries))
  return withCost([...lines, ...unknown], { [`${action}d`]: known })
}

const mostNamed = 40

function fixedLines(entries: readonly ToolEntry[]): readonly string[] {
  const listed = entries.slice(0, mostNamed).map(({ tool }) => `- ${signature(tool)}`)
  return ['In this protocol revision calls do not change the tool list. Call these with call_tool:', ...listed]
}

/** The groups of these tools that have hooks. */
function preparedGroups(runtime: Runtime, scope: Scope, entries: readonly ToolEntry[]): readonly string[] {
  const { groups } = runtime.catalogs.of(scope)
  const found = new Set(entries.flatMap(({ visibility: { group } }) => (group === undefined ? [] : [group])))
  return [...found].filter((group) => isStrict(groups, group))
}

/** Active groups without an enabled tool. */
function idle(runtime: Runtime, scope: Scope, groups: readonly string[]): readonly string[] {
  const { catalog } = runtime.catalogs.of(scope)
  const enabled = new Set(scope.state.activation.tools)
  return groups.filter(
    (group) =>
      scope.state.activation.groups.includes(group) && !catalog.byGroup.get(group)?.some(({ tool }) => enabled.has(tool.name)),
  )
}

function stillListed(runtime: Runtime, scope: Scope, entries: ReadonlyMap<string, ToolEntry>): readonly string[] {
  const listed = runtime.views.rendered(scope).tools.filter(({ name }) => entries.has(name))
  return listed.length === 0 ? [] : [`Still listed, with their group or always: ${listed.map(({ name }) => name).join(', ')}.`]
}

function sorted(runtime: Runtime, scope: Scope, names: readonly string[]) {
  const all = new Map(discoverable(runtime, scope).entries.map((entry) => [entry.tool.name, entry]))
  const { groups } = readerFor(runtime, scope)
  const { children } = runtime.catalogs.of(scope).groups
  const inside = (group: string): readonly string[] => [group, ...(children.get(group) ?? []).flatMap(inside)]
  const entries = new Map<string, ToolEntry>()
  const unknown: string[] = []
  const own: string[] = []
  for (const name of new Set(names)) {
    const entry = all.get(name)
    if (entry !== undefined) entries.set(name, entry)
    else if (groups.has(name)) {
      const wanted = new Set(inside(name))
      for (const [each, member] of all) if (wanted.has(member.visibility.group ?? '')) entries.set(each, member)
    } else if (surfaceNames.has(name)) own.push(name)
    else unknown.push(name)
  }
  return { entries, unknown: unknownLines(unknown, [...all.keys(), ...groups]), own }
}

const pageSize = 100

/** Lists names and short descriptions without schemas. */
function listReply(runtime: Runtime, scope: Scope, { group, tag, query, cursor }: ManageRequest): CallToolResult {
  checkGroup(runtime, scope, group)
  const permitted = discoverable(runtime, scope)
  const listed = new Set(runtime.views.rendered(scope).tools.map(({ name }) => name))
  const words = (query ?? '').toLowerCase().split(/\s+/u).filter(Boolean)
  const wanted = permitted.entries.filter(
    ({ tool, tags, visibility }) =>
      (group === undefined || visibility.group === group) &&
      (tag === undefined || tags.includes(tag)) &&
      words.every((word) => `${tool.name} ${tool.description ?? ''}`.toLowerCase().includes(word)),
  )
  const { items, nextCursor } = pageOf(wanted, pageSize, permitted.fingerprint, cursor)
  const lines = items.map(({ tool }) => `- ${tool.name}${listed.has(tool.name) ? ' (enabled)' : ''}${brief(tool)}`)
  const more = nextCursor === undefined ? [] : [`More with cursor "${nextCursor}".`]
  return withCost([`${items.length} of ${counted(permitted.entries.length, 'tool')}:`, ...lines, ...more], {
    total: permitted.entries.length,
    tools: items.map(({ tool }) => ({
      name: tool.name,
      description: firstSentence(tool.description ?? ''),
      enabled: listed.has(tool.name),
    })),
    ...(nextCursor !== undefined && { nextCursor }),
  })
}

const brief = ({ description = '' }: Tool): string => (description === '' ? '' : ` — ${firstSentence(description)}`)

function statusReply(runtime: Runtime, scope: Scope): CallToolResult {
  const { exposure, reason } = runtime.views.decision(scope)
  const listed = runtime.views.rendered(scope)
  const permitted = runtime.views.permitted(scope)
  const enabled = scope.state.activation.tools
  const lines = [
    `Exposure: ${exposure}, because ${reason}.`,
    `Listed: ${counted(listed.tools.length, 'tool')}, about ${listed.tokens} tokens. Everything: ${counted(permitted.tools.length, 'tool')}, about ${permitted.tokens} tokens.`,
    `Enabled: ${enabled.length === 0 ? 'none' : enabled.join(', ')}.`,
    ...(scope.missesChanges ? ['This client does not refresh its tool list in time: use call_tool.'] : []),
  ]
  return withCost(lines, {
    exposure,
    reason,
    listed: listed.tools.length,
    tokens: listed.tokens,
    allTokens: permitted.tokens,
    enabled,
  })
}
