import { ancestorsOf, type Group, type Groups, gateName, generateDescription } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import { alwaysLoad } from '../tool/host-hints.ts'

/** The groups and settings that activators are generated from. */
export interface SurfacePlan {
  readonly groups: Groups
  /** Activators that the author wrote, by group. */
  readonly written: ReadonlyMap<string, string>
  /** List an activator only while the parent of its group is active. */
  readonly stepwise: boolean
  readonly deactivateWritten: boolean
}

/** The name of the tool that activates a group. */
export function activatorName(plan: SurfacePlan, group: string): string {
  return plan.written.get(group) ?? (group === gateName ? 'activate' : `activate_${group}`)
}

/** Generates one activator per group that the author wrote none for, and one `deactivate`. */
export function surfaceEntries(plan: SurfacePlan): readonly ToolEntry[] {
  if (plan.groups.byName.size === 0) return []
  const made = [...plan.groups.byName.values()]
    .filter((group) => !plan.written.has(group.name))
    .map((group) => activator(plan, group))
  const names = groupNames(plan.groups)
  return names.length === 0 || plan.deactivateWritten ? made : [...made, deactivator(plan, names)]
}

/** The groups that clients know of; the gate is not one of them. */
export const groupNames = ({ byName }: Groups): readonly string[] => [...byName.keys()].filter((name) => name !== gateName)

/** The group that must be active for an activator to be listed: with `stepwise` its parent, else the gate if there is one. */
function listedWithin({ stepwise, groups }: SurfacePlan, group?: Group): { readonly within?: string } {
  if (group?.name === gateName) return {}
  if (stepwise && group?.parent !== undefined) return { within: group.parent }
  return groups.byName.has(gateName) ? { within: gateName } : {}
}

/** The groups that have something for one client, and the tools of each. */
export interface Reader {
  readonly groups: ReadonlySet<string>
  toolsOf(group: string): readonly string[]
}

/** The description of a group: the author's, or one generated from the tools that this client may know of. */
export function groupDescription(groups: Groups, { name, title, description }: Group, reader: Reader): string {
  if (description !== '') return description
  const inside = (each: string): readonly string[] => [
    ...reader.toolsOf(each),
    ...(groups.children.get(each) ?? []).flatMap(inside),
  ]
  return generateDescription(title ?? name, [...new Set(inside(name))])
}

/** Whether the author wrote this activator but no description. */
export const isUndescribed = ({ isHandwritten, activates, tool }: ToolEntry): boolean =>
  isHandwritten === true && activates !== undefined && tool.description === undefined

/** Describes an activator for one client: names the tools it enables, but no group that is empty for this client. */
export function forReader(entry: ToolEntry, plan: SurfacePlan, reader: Reader): ToolEntry {
  if (isUndescribed(entry)) return withGroupsDescription(entry, plan, reader)
  if (entry.source !== surfaceSource || entry.isDiscovery === true) return entry
  if (entry.activates === undefined)
    return reader.groups.size === groupNames(plan.groups).length ? entry : deactivator(plan, [...reader.groups])
  const group = plan.groups.byName.get(entry.activates)
  return group === undefined ? entry : { ...entry, tool: { ...entry.tool, description: describe(plan, group, reader) } }
}

function withGroupsDescription(entry: ToolEntry, { groups }: SurfacePlan, reader: Reader): ToolEntry {
  const group = groups.byName.get(entry.activates ?? '')
  if (group === undefined) return entry
  return { ...entry, tool: { ...entry.tool, description: sentence(groupDescription(groups, group, reader)) }, declared: entry }
}

export const surfaceSource = 'surface'

const base = { origin: 'surface', source: surfaceSource, visibility: {}, tags: [], aliases: [] } as const

// Activation changes only the list, so hosts need not ask for approval.
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const

function activator(plan: SurfacePlan, group: Group): ToolEntry {
  const name = activatorName(plan, group.name)
  return {
    ...base,
    activates: group.name,
    ...listedWithin(plan, group),
    tool: {
      name,
      title: group.name === gateName ? 'Activate' : `Activate ${group.name}`,
      inputSchema: { type: 'object', properties: {} },
      annotations,
      _meta: alwaysLoad,
    },
    input: { json: {}, check: (value) => ({ value }) },
    handler: (_input, ctx) => ctx.activate(group.name),
  }
}

function deactivator(plan: SurfacePlan, names: readonly string[]): ToolEntry {
  return {
    ...base,
    ...listedWithin(plan),
    tool: {
      name: 'deactivate',
      title: 'Deactivate a group',
      description: 'Deactivate a group of tools that is no longer needed. Its tools and those of nested groups leave the list.',
      inputSchema: {
        type: 'object',
        properties: { group: { type: 'string', enum: names, description: 'The group to deactivate' } },
        required: ['group'],
      },
      annotations,
      _meta: alwaysLoad,
    },
    input: { json: {}, check: checkGroup(names) },
    handler: ({ group }: { group: string }, ctx) => ctx.deactivate(group),
  }
}

// The transition checks the group name, because it can suggest the nearest ones.
function checkGroup(names: readonly string[]): ToolEntry['input']['check'] {
  return (value) => {
    const { group } = (value ?? {}) as { group?: unknown }
    return typeof group === 'string'
      ? { value: { group } }
      : { problems: [{ path: 'group', message: `must be one of ${names.join(', ')}` }] }
  }
}

const named = 12

function describe(plan: SurfacePlan, group: Group, reader: Reader): string {
  const { groups } = plan
  const enabled = reader.toolsOf(group.name)
  const known = (names: Iterable<string>): string[] => [...names].filter((name) => reader.groups.has(name))
  const parts = [sentence(groupDescription(groups, group, reader))]
  if (enabled.length > 0) {
    const rest = enabled.length > named ? ` and ${enabled.length - named} more` : ''
    parts.push(`Enables: ${enabled.slice(0, named).join(', ')}${rest}.`)
  }
  const missing = plan.stepwise
    ? []
    : ancestorsOf(groups, group.name)
        .filter((name) => name !== gateName)
        .toReversed()
  if (missing.length > 0) parts.push(`Call ${missing.map((name) => activatorName(plan, name)).join(', then ')} first.`)
  const children = known(groups.children.get(group.name) ?? [])
  if (children.length > 0) parts.push(`Then available: ${children.map((name) => activatorName(plan, name)).join(', ')}.`)
  const needs = known(group.needs)
  if (needs.length > 0) parts.push(`Also activates: ${needs.join(', ')}.`)
  const excludes = known(group.excludes)
  if (excludes.length > 0) parts.push(`Deactivates: ${excludes.join(', ')}.`)
  return parts.join(' ')
}

export const sentence = (text: string): string => (/[.!?…]$/u.test(text.trim()) ? text.trim() : `${text.trim()}.`)
