import type { CallToolResult } from '@modelcontextprotocol/server'
import {
  ancestorsOf,
  awaitsPrerequisite,
  Failure,
  findsTools,
  gateName,
  isFailure,
  isStrict,
  nearest,
  nearestHint,
  printable,
  resolve,
} from '@unfold-mcp/core'
import { activatorName } from '../../catalog/activators.ts'
import { callerOf } from '../../catalog/call-variants.ts'
import { activateAll } from '../../runtime/activation.ts'
import { hidesUnlisted, offersDiscovery } from '../../runtime/discoverable.ts'
import { isActive } from '../../runtime/groups.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import type { ToolEntry } from '../../tool/entry.ts'
import { failureResult } from '../../tool/result.ts'
import { noTransition } from '../../tool/transition.ts'
import type { CallEffects } from './call.ts'

type Admission =
  | { readonly kind: 'admitted'; readonly entry: ToolEntry }
  | { readonly kind: 'refused'; readonly result: CallToolResult }

/** Resolves a tool name for this scope and applies the policy for calls to unlisted tools. */
export async function admit(runtime: Runtime, scope: Scope, name: string, effects: CallEffects): Promise<Admission> {
  const { catalog } = runtime.catalogs.of(scope)
  const inputs = runtime.views.inputs(scope)
  const meaning = resolve(catalog, inputs, name)
  if (meaning.kind === 'shown') return { kind: 'admitted', entry: meaning.entry }
  if (meaning.kind === 'unknown') throw unknownTool(runtime, scope, name)
  const { entry } = meaning
  if (entry.origin === 'surface') {
    // Nobody asked for scripts here.
    if (entry.surface === 'code') throw unknownTool(runtime, scope, name)
    if (entry.isDiscovery !== true || (offersDiscovery(runtime, scope) && isRightCaller(entry, scope)))
      return { kind: 'admitted', entry }
    throw unknownTool(runtime, scope, name)
  }
  const { hiddenCalls } = runtime.declaration
  if (hidesUnlisted(runtime, scope)) throw unknownTool(runtime, scope, name)
  if (findsTools(inputs.exposure) && hiddenCalls !== 'reveal') return refused(unlistedHint(scope, entry))
  if (awaitsPrerequisite(entry, inputs) && hiddenCalls === 'hint') return refused(waitingHint(entry))
  const group = entry.visibility.group
  if (group === undefined) {
    if (awaitsPrerequisite(entry, inputs) || hiddenCalls === 'reveal') return { kind: 'admitted', entry }
    throw unknownTool(runtime, scope, name)
  }
  if (hiddenCalls === 'hint') return refused(activationHint(runtime, scope, name, group))
  // Where tools are found by search the list stays short: only a group whose hooks must run is activated.
  const activates = inputs.exposure !== 'search' || isStrict(inputs.groups, group)
  if (scope.settings.canActivate && activates) await reveal(runtime, scope, group, effects)
  return { kind: 'admitted', entry }
}

const refused = (result: CallToolResult): Admission => ({ kind: 'refused', result })

/** `call_tool` and its variants. */
export const callsOthers = ({ surface }: ToolEntry): boolean => surface === 'call' || surface === 'call-variants'

/** The variants of `call_tool` exist so that people can approve them by name; a client has either those or `call_tool`. */
function isRightCaller(entry: ToolEntry, { settings }: Scope): boolean {
  return !callsOthers(entry) || (entry.surface === 'call-variants') === settings.exposureSettings.callVariants
}

/** Activates the group of an unlisted tool so that it can run. */
export async function reveal(runtime: Runtime, scope: Scope, group: string, effects: CallEffects): Promise<void> {
  const transition = await activateAll(runtime, scope, [group]).catch((error: unknown) => {
    // The tool can run without being listed.
    if (isFailure(error, 'state_unavailable')) return noTransition
    throw error
  })
  effects.transitions.push(transition)
  if (transition.changed) effects.reveals.push(transition)
}

function unknownTool(runtime: Runtime, scope: Scope, name: string): Failure {
  const listed = runtime.views.rendered(scope).entries.map((entry) => entry.tool.name)
  const close = nearest(name, listed)
  const shownName = printable(name)
  return new Failure('unknown_tool', `Tool "${shownName}" not found.${nearestHint(close)} List the tools to see what there is.`, {
    name: shownName,
    nearest: close,
  })
}

function waitingHint({ tool: { name }, after }: ToolEntry): CallToolResult {
  return failureResult('requires_activation', `Tool '${name}' can be called after '${after}'. Call '${after}' first.`)
}

function unlistedHint({ settings }: Scope, { tool }: ToolEntry): CallToolResult {
  const enable = settings.canActivate && settings.preference === 'lazy' ? ', or enable it with manage_tools first' : ''
  if (settings.preference === 'code') {
    const text = `Tool '${tool.name}' is not listed. Call it from a script with run_code.`
    return failureResult('requires_activation', text)
  }
  const caller = callerOf(tool, settings.exposureSettings.callVariants)
  const text = `Tool '${tool.name}' is not listed. Call it with ${caller}(name, arguments)${enable}.`
  return failureResult('requires_activation', text)
}

export function activationHint(runtime: Runtime, scope: Scope, tool: string, group: string): CallToolResult {
  if (!scope.settings.canActivate) {
    return failureResult(
      'requires_activation',
      group === gateName
        ? `Tool '${tool}' is not part of this view. Connect without it to have the tool.`
        : `Tool '${tool}' is in group '${group}', which is not part of this view. Connect with ?groups=${group} to have it.`,
    )
  }
  const { groups, surface } = runtime.catalogs.of(scope)
  const missing = [...ancestorsOf(groups, group)]
    .reverse()
    .concat(group)
    .filter((name) => !isActive(runtime, scope, name))
  const activators = missing.map((name) => `'${activatorName(surface, name)}'`)
  return failureResult('requires_activation', `Tool '${tool}' requires activation. Call ${activators.join(', then ')} first.`)
}
