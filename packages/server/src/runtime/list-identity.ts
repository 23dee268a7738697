import type { Scope } from '../scope/scope.ts'
import type { Delta } from '../view/identities.ts'
import type { Runtime } from './runtime.ts'

/** Lists are remembered by principal, else by session, and together for all anonymous stateless clients. */
export const readerKey = ({ settings, key }: Scope): string =>
  settings.principal !== undefined ? `principal:${settings.principal.id}` : settings.era === 'stateless' ? '' : key

/** The identity of this scope's current list; `undefined` where identity is switched off. */
export function listIdentity({ declaration, identities, views }: Runtime, scope: Scope): string | undefined {
  return declaration.identity === false ? undefined : identities.of(views.rendered(scope))
}

/** Returns the identity of a list that the client is about to get, and remembers the list to compute later what changed. */
export function rememberList({ declaration, identities, views }: Runtime, scope: Scope): string | undefined {
  if (declaration.identity === false) return undefined
  const view = views.rendered(scope)
  const identity = identities.of(view)
  identities.remember(readerKey(scope), identity, view.tools)
  return identity
}

/** The changes since this scope's list had that identity; `undefined` when that list is not remembered. */
export function changesSince({ identities, views }: Runtime, scope: Scope, identity: string): Delta | undefined {
  return identities.since(readerKey(scope), identity, views.rendered(scope).tools)
}

/** What decides about this scope's list besides the tools. */
export function listState({ views }: Runtime, scope: Scope): { readonly [part: string]: unknown } {
  const { groups, tools, tags, versions } = scope.state.activation
  return {
    groups: groups.toSorted(),
    tools: tools.toSorted(),
    tags: tags.toSorted(),
    versions,
    succeeded: [...scope.succeeded].sort(),
    facts: views.snapshot(scope).facts,
  }
}
