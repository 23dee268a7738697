import {
  type Activation,
  Failure,
  type GroupCost,
  gateName,
  groupOf,
  initialActivation,
  isActive as isActiveIn,
  type Plan,
  planActivate,
  planActivateAll,
  planDeactivate,
  reconcile,
  surfaceNames,
  type Tool,
  touch,
} from '@unfold-mcp/core'
import { groupCost } from '../catalog/group-cost.ts'
import { ephemeralKey, type Scope } from '../scope/scope.ts'
import type { ToolEntry } from '../tool/entry.ts'
import { fixedTransition, noTransition, type Transition, transitionOf } from '../tool/transition.ts'
import { groupNamed, isActive } from './groups.ts'
import type { Runtime } from './runtime.ts'

export function activate(runtime: Runtime, scope: Scope, group: string): Promise<Transition> {
  const name = groupNamed(runtime, group)
  return change(runtime, scope, (activation) =>
    planActivate(runtime.catalogs.current.groups, activation, name, costFor(runtime, scope)),
  )
}

/** Activates groups together with their ancestors. */
export function activateAll(runtime: Runtime, scope: Scope, groups: readonly string[]): Promise<Transition> {
  return change(runtime, scope, (activation) =>
    planActivateAll(runtime.catalogs.current.groups, activation, groups, costFor(runtime, scope)),
  )
}

export function deactivate(runtime: Runtime, scope: Scope, group: string): Promise<Transition> {
  const name = groupNamed(runtime, group)
  return change(runtime, scope, (activation) => planDeactivate(runtime.catalogs.current.groups, activation, name))
}

/** Changes which single tools a scope has enabled. */
export function setTools(
  runtime: Runtime,
  scope: Scope,
  next: (tools: readonly string[]) => readonly string[],
): Promise<Transition> {
  return change(runtime, scope, (activation) => ({ next: { ...activation, tools: next(activation.tools) }, on: [], off: [] }))
}

/** Activates or deactivates outside of a request: for one scope, a principal (`principal:<id>`), or `all`. */
export async function changeFor(
  runtime: Runtime,
  target: string,
  phase: 'activate' | 'deactivate',
  group: string,
): Promise<void> {
  groupOf(runtime.catalogs.current.groups, groupNamed(runtime, group))
  // A 2026-07-28 request has no state of its own, and has ended by now.
  if (target === ephemeralKey) return
  const scopes = await runtime.scopes.find(target)
  const oneOfEach = new Map(scopes.map((scope) => [scope.state, scope]))
  const work = phase === 'activate' ? activate : deactivate
  const outcomes = await Promise.allSettled([...oneOfEach.values()].map((scope) => work(runtime, scope, group)))
  // If one fails, the others have changed all the same and their clients must be notified.
  runtime.announcer.notifySoon(scopes)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

/**
 * Returns whether a group is active, outside of a call: for a scope, for all sessions of a principal, or without a target for the
 * only client over stdio, even before it has connected. `asked` and `box` are names for the error message.
 */
export function isActiveFor(
  runtime: Runtime,
  group: string,
  target?: string,
  { asked = 'isActive()', box = 'toolbox' } = {},
): boolean {
  const { groups } = runtime.catalogs.current
  const { scopes } = runtime
  const { name } = groupOf(groups, groupNamed(runtime, group))
  if (target !== undefined) return scopes.matching(target).every((scope) => isActive(runtime, scope, name))
  if (scopes.isConnectionExpected) return isActiveIn(groups, initialActivation(groups), name)
  const only = scopes.onlyConnection
  if (only !== undefined) return isActive(runtime, only, name)
  const argument = name === gateName ? 'all' : name
  const message = `What is active differs between clients, so ${asked} outside a call needs a scope: ${box}.isActive('${argument}', scope). Open scopes: ${scopes.summary}.`
  throw new Failure('no_scope', message, { operation: asked })
}

/** Evaluates predicates again and notifies every client whose view changed. */
export function toolListChanged({ scopes, views, announcer }: Runtime): void {
  scopes.refreshServers()
  views.reevaluate()
  announcer.notifySoon()
}

/** Counts a call for search that learns from use, and for quotas that evict the least recently used group. */
export function noteCall({ search, catalogs }: Runtime, scope: Scope, entry: ToolEntry): void {
  search.recordCall(scope, entry)
  const { group } = entry.visibility
  const { groups } = catalogs.current
  if (group === undefined || (groups.quota.groups === undefined && groups.quota.tokens === undefined)) return
  scope.state.activation = touch(groups, scope.state.activation, group)
}

/** Lists the tools that come after this one, for the rest of the session. */
export function noteSuccess(runtime: Runtime, scope: Scope, { tool: { name } }: ToolEntry): Transition {
  const { awaited } = runtime.catalogs.of(scope).catalog
  if (scope.settings.era === 'stateless' || !awaited.has(name) || scope.succeeded.has(name)) return noTransition
  const before = runtime.views.rendered(scope).tools
  runtime.relists.noteSilence(scope)
  scope.succeeded = new Set([...scope.succeeded, name])
  return effective(scope, transitionOf([], [], before, runtime.views.rendered(scope).tools))
}

async function change(runtime: Runtime, scope: Scope, plan: (activation: Activation) => Plan): Promise<Transition> {
  if (!scope.settings.canActivate) return fixedTransition
  const listed = (): readonly Tool[] => runtime.views.rendered(scope).tools
  let before: readonly Tool[] = []
  const planned = (activation: Activation): Plan => {
    before = listed()
    // After `before` was read: a client that turns out never to list again is given call_tool, which the reply then mentions.
    runtime.relists.noteSilence(scope)
    // Groups that came with a source may have gone with it.
    return plan(reconcile(runtime.catalogs.current.groups, activation))
  }
  return runtime.activations.change(scope.state, planned, ({ on, off }) =>
    effective(scope, transitionOf(on, off, before, listed())),
  )
}

/** Reduces a transition without effect to `noTransition`, and marks one whose result the client will not see. */
function effective(scope: Scope, transition: Transition): Transition {
  const { activated, deactivated, appeared, disappeared } = transition
  const changes = activated.length + deactivated.length + appeared.length + disappeared.length
  if (changes === 0 && transition.gateOpened !== true) return noTransition
  if (!scope.missesChanges) return transition
  return { ...transition, appeared: appeared.filter(({ name }) => !surfaceNames.has(name)), missesChanges: true }
}

function costFor({ catalogs, views }: Runtime, scope: Scope): GroupCost {
  return groupCost(catalogs.of(scope), views.inputs(scope).forbidden)
}
