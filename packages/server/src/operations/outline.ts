import { type GroupOutline, gateName, type OutlinedTool, toolTokens } from '@unfold-mcp/core'
import { activatorName } from '../catalog/activators.ts'
import { discoverable } from '../runtime/discoverable.ts'
import { groupStatuses } from '../runtime/groups.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

/** The tools that exist for one scope, listed or not, and their groups. */
export interface Outline {
  readonly tools: readonly OutlinedTool[]
  readonly groups: ReadonlyMap<string, GroupOutline>
  /** The tool that opens the gate. */
  readonly gate?: string
}

export function outlineOf(runtime: Runtime, scope: Scope): Outline {
  const known = groupStatuses(runtime, scope)
  const names = new Set(known.map(({ name }) => name))
  const { surface } = runtime.catalogs.of(scope)
  // Groups that do not exist for this scope are not named.
  const within = <K extends string>(key: K, group: string | undefined): { readonly [key in K]?: string } =>
    group !== undefined && names.has(group) ? ({ [key]: group } as { [key in K]: string }) : {}
  return {
    tools: discoverable(runtime, scope).entries.map(({ tool, visibility }) => ({
      name: tool.name,
      identity: runtime.identities.ofTools(tool, [tool]),
      tokens: toolTokens(tool),
      ...within('group', visibility.group),
    })),
    groups: new Map(
      known.map(({ name, description, parent, activator }) => [name, { description, ...within('parent', parent), activator }]),
    ),
    ...(surface.groups.byName.has(gateName) && { gate: activatorName(surface, gateName) }),
  }
}
