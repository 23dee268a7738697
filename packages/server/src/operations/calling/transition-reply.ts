import type { CallToolResult } from '@modelcontextprotocol/server'
import { counted, type DeactivationReason, metaKeys, signature, type Tool } from '@unfold-mcp/core'
import { sentence } from '../../catalog/activators.ts'
import type { OpenableGroup } from '../../runtime/groups.ts'
import { noTransition, type Transition, transitionOf } from '../../tool/transition.ts'
import { surfaceResult } from './discovery-result.ts'

const listed = 40

/** The effect of a transition as text for the model and as data: names, signatures, and what can be activated next. */
export function transitionReply(made: Transition, openable: readonly OpenableGroup[], asked: string): CallToolResult {
  // An activator is listed once, together with the description of its group.
  const appeared = made.appeared.filter(({ name }) => !openable.some(({ activator }) => activator === name))
  const transition = { ...made, appeared }
  return surfaceResult(transitionText(transition, openable, asked), {
    changed: transition.changed,
    activated: transition.activated,
    deactivated: transition.deactivated,
    appeared: transition.appeared.map((tool) => ({ name: tool.name, signature: signature(tool) })),
    disappeared: transition.disappeared,
    openable,
  })
}

/** The reply of an activator where a call cannot change the list: the group's tools, which can be called as they are. */
export function unchangedReply(tools: readonly Tool[]): CallToolResult {
  const lines = ['No activation is needed: calls do not change the tool list of this client.']
  if (tools.length > 0) lines.push('Call these tools directly:', ...tools.slice(0, listed).map((tool) => `- ${signature(tool)}`))
  if (tools.length > listed) lines.push(`- … and ${tools.length - listed} more`)
  return surfaceResult(lines.join('\n'), {
    changed: false,
    tools: tools.map((tool) => ({ name: tool.name, signature: signature(tool) })),
  })
}

/** The groups that were activated to run an unlisted tool, for `_meta`: the content is the tool's own. */
export function revealMeta(made: readonly Transition[]): { readonly [key: string]: unknown } {
  return {
    [metaKeys.activation]: {
      activated: made.flatMap(({ activated }) => activated),
      deactivated: made.flatMap(({ deactivated }) => deactivated),
      appeared: made.flatMap(({ appeared }) => appeared.map(({ name }) => name)),
      disappeared: made.flatMap(({ disappeared }) => disappeared),
    },
  }
}

export function transitionText(
  { changed, activated, deactivated, appeared, disappeared, gateOpened = false, missesChanges = false }: Transition,
  openable: readonly OpenableGroup[],
  asked: string,
): string {
  const lines: string[] = []
  if (!changed) lines.push(asked)
  if (activated.length > 0) lines.push(`Activated: ${activated.join(', ')}.`)
  else if (gateOpened) lines.push('Activated.')
  for (const [because, groups] of byCause(deactivated)) lines.push(`${causes[because]}: ${groups.join(', ')}.`)
  if (appeared.length > 0) {
    lines.push(`${counted(appeared.length, 'tool is', 'tools are')} now available:`)
    lines.push(...appeared.slice(0, listed).map((tool) => `- ${signature(tool)}`))
    if (appeared.length > listed) lines.push(`- … and ${appeared.length - listed} more`)
  }
  if (disappeared.length > 0) {
    const rest = disappeared.length > listed ? ` and ${disappeared.length - listed} more` : ''
    lines.push(`No longer listed: ${disappeared.slice(0, listed).join(', ')}${rest}.`)
  }
  if (openable.length > 0) {
    lines.push('You can now activate:')
    lines.push(...openable.map(({ activator, description }) => `- ${activator}: ${sentence(description)}`))
  }
  if (appeared.length > 0) {
    lines.push(missesChanges ? callThem : 'Call them by name.')
  }
  return lines.join('\n')
}

/** How the list changed during a call; empty if only definitions changed. */
export function changeText(before: readonly Tool[], after: readonly Tool[]): string {
  const { appeared, disappeared } = transitionOf([], [], before, after)
  return appeared.length + disappeared.length === 0
    ? ''
    : transitionText({ ...noTransition, changed: true, appeared, disappeared }, [], '')
}

export const callThem = 'Call them with call_tool(name, arguments): this client does not refresh its tool list in time.'

const causes: { readonly [B in DeactivationReason]: string } = {
  requested: 'Deactivated',
  parent: 'Deactivated nested groups',
  dependency: 'Deactivated dependent groups',
  excluded: 'Deactivated exclusive groups',
  evicted: 'Evicted (least recently used first)',
}

function byCause(deactivated: Transition['deactivated']): Map<DeactivationReason, string[]> {
  const found = new Map<DeactivationReason, string[]>()
  for (const { group, because } of deactivated) found.set(because, [...(found.get(because) ?? []), group])
  return found
}
