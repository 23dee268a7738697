import type { CallToolResult } from '@modelcontextprotocol/server'
import { type DeactivationReason, counted, metaKeys, signature, type Tool } from '@unfold-mcp/core'
import { sentence } from '../../catalog/activators.ts'
import type { OpenableGroup } from '../../runtime/groups.ts'
import { noTransition, type Transition, transitionOf } from '../../tool/transition.ts'
import { surfaceResult } from './discovery-result.ts'

const listed = 40

/** What a transition did, in words for the model and as data: names, signatures, and what can be opened next. */
export function transitionReply(made: Transition, openable: readonly OpenableGroup[], asked: string): CallToolResult {
  // What opens a group is told once, with what it is for.
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

/** What an activator answers where a call does not change the list: the group's tools, which can be called as they are. */
export function unchangedReply(tools: readonly Tool[]): CallToolResult {
  const lines = [
    'Nothing was switched on or off, and nothing needs to be: a call does not change the list of tools of this client.',
  ]
  if (tools.length > 0)
    lines.push('These can be called as they are:', ...tools.slice(0, listed).map((tool) => `- ${signature(tool)}`))
  if (tools.length > listed) lines.push(`- … and ${tools.length - listed} more`)
  return surfaceResult(lines.join('\n'), {
    changed: false,
    tools: tools.map((tool) => ({ name: tool.name, signature: signature(tool) })),
  })
}

/** What was activated so that an unlisted tool could run, for `_meta`: the content of the result is the tool's own. */
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

/** The same as text alone. */
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
    lines.push('You can now open:')
    lines.push(...openable.map(({ activator, about }) => `- ${activator}: ${sentence(about)}`))
  }
  if (appeared.length > 0) {
    lines.push(missesChanges ? callThem : 'Call them by name.')
  }
  return lines.join('\n')
}

/** How a list changed while a call ran, in words for the model; nothing when only definitions did. */
export function changeText(before: readonly Tool[], after: readonly Tool[]): string {
  const { appeared, disappeared } = transitionOf([], [], before, after)
  return appeared.length + disappeared.length === 0
    ? ''
    : transitionText({ ...noTransition, changed: true, appeared, disappeared }, [], '')
}

export const callThem = 'Call them with call_tool(name, arguments): this client does not see new tools in time.'

const causes: { readonly [B in DeactivationReason]: string } = {
  requested: 'Deactivated',
  parent: 'Deactivated with it, as part of it',
  dependency: 'Deactivated with it, because they need it',
  excluded: 'Switched off, because it cannot be active at the same time',
  evicted: 'Evicted to make room (least recently used first)',
}

function byCause(deactivated: Transition['deactivated']): Map<DeactivationReason, string[]> {
  const found = new Map<DeactivationReason, string[]>()
  for (const { group, because } of deactivated) found.set(because, [...(found.get(because) ?? []), group])
  return found
}
