import type { CallToolResult } from '@modelcontextprotocol/server'
import { firstSentence, pageOf, type Tool } from '@unfold-mcp/core'
import { failureResult } from '../result.ts'
import { describeReply, searchReply, unknownLine, withCost } from './finding.ts'
import { transitionText } from './replies.ts'
import type { Runtime } from './runtime.ts'
import type { Scope } from './scope.ts'
import type { SurfacePlace } from './stable-surface.ts'
import { surfaceNames } from './surface.ts'

export interface ManageRequest {
  readonly action: 'list' | 'search' | 'describe' | 'enable' | 'disable' | 'reset' | 'status'
  readonly tools?: string | readonly string[]
  readonly query?: string
  readonly group?: string
  readonly tag?: string
  readonly cursor?: string
}

/** What `manage_tools` answers. */
export async function manageReply(request: ManageRequest, { runtime, scope, effects }: SurfacePlace): Promise<CallToolResult> {
  const names = request.tools === undefined ? [] : typeof request.tools === 'string' ? [request.tools] : request.tools
  switch (request.action) {
    case 'list':
      return listReply(runtime, scope, request)
    case 'search':
      return searchReply(runtime, scope, searchOf(request))
    case 'describe':
      return describeReply(runtime, scope, names)
    case 'status':
      return statusReply(runtime, scope)
    case 'reset': {
      const transition = await runtime.setTools(scope, () => [])
      effects.made.push(transition)
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

/** Enables or disables tools and the tools of groups. What is unknown is said, and what is known takes effect all the same. */
async function switched(
  action: 'enable' | 'disable',
  names: readonly string[],
  { runtime, scope, effects }: Pick<SurfacePlace, 'runtime' | 'scope' | 'effects'>,
): Promise<CallToolResult> {
  if (names.length === 0) return failureResult('invalid_arguments', `Say in "tools" what to ${action}: names of tools or groups.`)
  const { known, unknown, own } = sorted(runtime, scope, names)
  const transition = await runtime.setTools(scope, (tools) =>
    action === 'enable' ? [...new Set([...tools, ...known])] : tools.filter((name) => !known.includes(name)),
  )
  effects.made.push(transition)
  const lines = own.map((name) => `"${name}" cannot be ${action}d: it is always there.`)
  if (known.length > 0) lines.push(transitionText(transition, [], `Already ${action}d: ${known.join(', ')}.`))
  lines.push(...unknown)
  if (known.length === 0) return failureResult('unknown_tool', [...lines, 'Use action "list" or "search" to find names.'].join('\n'))
  return withCost(lines, { [`${action}d`]: known })
}

function sorted(runtime: Runtime, scope: Scope, names: readonly string[]) {
  const { entries } = runtime.views.whole(scope)
  const groups = runtime.reader(scope).groups
  const all = new Set(entries.map(({ tool }) => tool.name))
  const known = new Set<string>()
  const unknown: string[] = []
  const own: string[] = []
  for (const name of names) {
    const members = groups.has(name) ? entries.filter(({ visibility }) => visibility.group === name) : []
    if (all.has(name)) known.add(name)
    else if (members.length > 0) for (const { tool } of members) known.add(tool.name)
    else if (surfaceNames.has(name)) own.push(name)
    else unknown.push(unknownLine(name, [...all, ...groups]))
  }
  return { known: [...known], unknown, own }
}

const pageSize = 100

/** Names and brief descriptions, whether each is enabled, no schemas. */
function listReply(runtime: Runtime, scope: Scope, { group, tag, query, cursor }: ManageRequest): CallToolResult {
  const whole = runtime.views.whole(scope)
  const listed = new Set(runtime.views.shown(scope).tools.map(({ name }) => name))
  const words = (query ?? '').toLowerCase().split(/\s+/u).filter(Boolean)
  const wanted = whole.entries.filter(
    ({ tool, tags, visibility }) =>
      (group === undefined || visibility.group === group) &&
      (tag === undefined || tags.includes(tag)) &&
      words.every((word) => `${tool.name} ${tool.description ?? ''}`.toLowerCase().includes(word)),
  )
  const { items, nextCursor } = pageOf(wanted, pageSize, whole.fingerprint, cursor)
  const lines = items.map(({ tool }) => `- ${tool.name}${listed.has(tool.name) ? ' (enabled)' : ''}${brief(tool)}`)
  const more = nextCursor === undefined ? [] : [`More with cursor "${nextCursor}".`]
  return withCost([`${items.length} of ${whole.entries.length} tools:`, ...lines, ...more], {
    total: whole.entries.length,
    tools: items.map(({ tool }) => ({ name: tool.name, description: firstSentence(tool.description ?? ''), enabled: listed.has(tool.name) })),
    ...(nextCursor !== undefined && { nextCursor }),
  })
}

const brief = ({ description = '' }: Tool): string => (description === '' ? '' : ` — ${firstSentence(description)}`)

function statusReply(runtime: Runtime, scope: Scope): CallToolResult {
  const { exposure, reason } = runtime.views.decision(scope)
  const shown = runtime.views.shown(scope)
  const whole = runtime.views.whole(scope)
  const enabled = scope.cell.activation.tools
  const lines = [
    `Exposure: ${exposure}, because ${reason}.`,
    `Listed: ${shown.tools.length} tools, about ${shown.tokens} tokens. Everything: ${whole.tools.length} tools, about ${whole.tokens} tokens.`,
    `Enabled: ${enabled.length === 0 ? 'none' : enabled.join(', ')}.`,
    ...(scope.neverRelists ? ['This client did not list its tools again after a change: use call_tool.'] : []),
  ]
  return withCost(lines, { exposure, reason, listed: shown.tools.length, tokens: shown.tokens, allTokens: whole.tokens, enabled })
}
