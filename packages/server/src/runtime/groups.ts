import { gateName, groupOf, type Tool } from '@unfold-mcp/core'
import { activatorName, groupDescription, type Reader } from '../catalog/activators.ts'
import type { Scope } from '../scope/scope.ts'
import type { GroupStatus } from '../tool/context.ts'
import type { ToolEntry } from '../tool/entry.ts'
import type { Transition } from '../tool/transition.ts'
import { readerOf } from '../view/reader.ts'
import { discoverable } from './discoverable.ts'
import type { Runtime } from './runtime.ts'

/** A group that can be opened now, and the tool that opens it. */
export interface OpenableGroup {
  readonly group: string
  readonly activator: string
  readonly description: string
}

/** The groups and tools that this scope may know of. */
export function readerFor({ catalogs, views }: Runtime, scope: Scope): Reader {
  return readerOf(catalogs.of(scope), views.inputs(scope))
}

/** Outside of a class the gate goes by the name `all`, unless there is a group of that name. */
export function groupNamed({ declaration, catalogs }: Runtime, group: string): string {
  return group === 'all' && declaration.gated && !catalogs.current.groups.byName.has(group) ? gateName : group
}

export function isActive(runtime: Runtime, scope: Scope, group: string): boolean {
  const { groups } = runtime.catalogs.current
  return runtime.views.snapshot(scope).isActive(groupOf(groups, groupNamed(runtime, group)).name)
}

/** Every group that has something for this scope; the gate is not one of them. */
export function groupStatuses(runtime: Runtime, scope: Scope): readonly GroupStatus[] {
  const { groups } = runtime.catalogs.current
  const { catalog, surface } = runtime.catalogs.of(scope)
  const { forbidden } = runtime.views.inputs(scope)
  const reader = readerFor(runtime, scope)
  const members = (name: string): ToolEntry[] => (catalog.byGroup.get(name) ?? []).filter((entry) => !forbidden.has(entry))
  return [...groups.byName.values()]
    .filter(({ name }) => reader.groups.has(name))
    .map((group) => ({
      name: group.name,
      description: groupDescription(groups, group, reader),
      parent: group.parent === gateName ? undefined : group.parent,
      active: isActive(runtime, scope, group.name),
      activator: activatorName(surface, group.name),
      toolCount: new Set(members(group.name).map((entry) => entry.tool.name)).size,
    }))
}

/** The groups that a transition made it possible to open: children of what it activated. */
export function openableGroups(
  runtime: Runtime,
  scope: Scope,
  { activated, gateOpened = false }: Transition,
): readonly OpenableGroup[] {
  const opened = [...(gateOpened ? [gateName] : []), ...activated]
  if (opened.length === 0) return []
  const { groups } = runtime.catalogs.current
  const { surface } = runtime.catalogs.of(scope)
  const reader = readerFor(runtime, scope)
  return opened
    .flatMap((name) => groups.children.get(name) ?? [])
    .filter((name) => !isActive(runtime, scope, name) && reader.groups.has(name))
    .map((group) => ({
      group,
      activator: activatorName(surface, group),
      description: groupDescription(groups, groupOf(groups, group), reader),
    }))
}

type GroupTools = readonly (readonly [string, readonly Tool[]])[]
const groupToolsByEntries = new WeakMap<readonly ToolEntry[], GroupTools>()

/** The tools of each group that has something for this scope. */
export function groupTools(runtime: Runtime, scope: Scope): GroupTools {
  const { entries } = discoverable(runtime, scope)
  const known = groupToolsByEntries.get(entries)
  if (known !== undefined) return known
  const tools = groupStatuses(runtime, scope).map(
    ({ name }) => [name, entries.filter(({ visibility }) => visibility.group === name).map(({ tool }) => tool)] as const,
  )
  groupToolsByEntries.set(entries, tools)
  return tools
}
