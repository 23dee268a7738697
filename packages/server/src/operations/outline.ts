import { gateName, toolTokens } from '@unfold-mcp/core'
import { activatorName } from '../catalog/activators.ts'
import { reachOf } from '../runtime/discoverable.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

/** A tool without its definition: which one it is, what it would cost a model, in tokens, and the group it lies in. */
interface OutlinedTool {
  readonly name: string
  /** Another one whenever its definition is another. */
  readonly identity: string
  readonly tokens: number
  readonly group?: string
}

interface OutlinedGroup {
  readonly about: string
  readonly parent?: string
  /** The tool that activates it. */
  readonly activator: string
}

/** All that exists for one scope, listed or not, and how it is ordered. */
export interface Outline {
  readonly tools: readonly OutlinedTool[]
  readonly groups: ReadonlyMap<string, OutlinedGroup>
  /** The tool that opens the gate, where the server has one. */
  readonly gate?: string
}

export function outlineOf(runtime: Runtime, scope: Scope): Outline {
  const known = runtime.groups(scope)
  const names = new Set(known.map(({ name }) => name))
  const { surface } = runtime.worldOf(scope)
  // What does not exist for this scope is not named.
  const within = <K extends string>(key: K, group: string | undefined): { readonly [key in K]?: string } =>
    group !== undefined && names.has(group) ? ({ [key]: group } as { [key in K]: string }) : {}
  return {
    tools: reachOf(runtime, scope).entries.map(({ tool, visibility }) => ({
      name: tool.name,
      identity: runtime.identities.ofTools(tool, [tool]),
      tokens: toolTokens(tool),
      ...within('group', visibility.group),
    })),
    groups: new Map(known.map(({ name, about, parent, activator }) => [name, { about, ...within('parent', parent), activator }])),
    ...(surface.groups.byName.has(gateName) && { gate: activatorName(surface, gateName) }),
  }
}
