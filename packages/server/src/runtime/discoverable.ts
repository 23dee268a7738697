import type { Look } from '@unfold-mcp/core'
import type { Scope } from '../scope/scope.ts'
import type { Shown } from '../view/rendered-view.ts'
import type { Runtime } from './runtime.ts'

/**
 * Whether tools that are not shown do not exist for this scope. Lists, searches, descriptions, outlines, identities, hints and
 * calls all ask here, so that none of them reveals what another denies.
 */
export function hidesUnshown(runtime: Runtime, scope: Scope): boolean {
  return runtime.declaration.hiddenCalls === 'opaque' && !isFound(runtime.views.look(scope))
}

/** Whether tools are found rather than listed: being unlisted then says nothing about a tool. */
export const isFound = ({ exposure }: Pick<Look, 'exposure'>): boolean => exposure === 'search' || exposure === 'lazy'

/** Every tool that this scope may learn of, listed or not. */
export function reachOf(runtime: Runtime, scope: Scope): Shown {
  return hidesUnshown(runtime, scope) ? runtime.views.open(scope) : runtime.views.whole(scope)
}
