import { findsTools } from '@unfold-mcp/core'
import type { Scope } from '../scope/scope.ts'
import type { RenderedView } from '../view/rendered-view.ts'
import type { Runtime } from './runtime.ts'

/**
 * Whether unlisted tools do not exist for this scope. Lists, searches, descriptions, outlines, identities, hints and calls all
 * use this function, so that none of them reveals what another denies.
 */
export function hidesUnlisted({ declaration, views }: Runtime, scope: Scope): boolean {
  return declaration.hiddenCalls === 'opaque' && !findsTools(views.inputs(scope).exposure)
}

/** Every tool that this scope may learn of, listed or not. */
export function discoverable(runtime: Runtime, scope: Scope): RenderedView {
  return hidesUnlisted(runtime, scope) ? runtime.views.visible(scope) : runtime.views.permitted(scope)
}

/** Whether discovery tools can be called unlisted. A server that lists everything as it is does not have them. */
export function offersDiscovery({ catalogs }: Runtime, scope: Scope): boolean {
  const { catalog, groups } = catalogs.of(scope)
  if (catalog.awaited.size > 0 || groups.byName.size > 0) return true
  return ['lazy', 'search', 'code', 'auto'].includes(scope.settings.preference)
}
