import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { gateName, isFailure, reasons, type Tool } from '@unfold-mcp/core'
import { activatorName, surfaceSource } from '../../catalog/activators.ts'
import { checkSize } from '../../catalog/message-limits.ts'
import { openableGroups } from '../../runtime/groups.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import { failureResult, isInputRequired } from '../../tool/result.ts'
import type { RenderedView } from '../../view/rendered-view.ts'
import { runDiscovery } from '../discovery/index.ts'
import { admit, callsOthers } from './admission.ts'
import { type Call, type CallEffects, noEffects } from './call.ts'
import { reasonIn, reportRejection } from './rejection.ts'
import { run } from './run.ts'
import { changeText, revealMeta, transitionText, unchangedReply } from './transition-reply.ts'

/** Admits and runs a call, and notifies the clients whose list it changed before the result is sent. */
export async function callTool(runtime: Runtime, scope: Scope, call: Call): Promise<CallToolResult | InputRequiredResult> {
  const effects = noEffects()
  if (runtime.declaration.rejected === undefined) return admitAndRun(runtime, scope, call, effects)
  try {
    const result = await admitAndRun(runtime, scope, call, effects)
    if (!effects.hasRun && 'isError' in result && result.isError === true) reportRejection(runtime, scope, call, reasonIn(result))
    return result
  } catch (error) {
    if (!effects.hasRun) reportRejection(runtime, scope, call, isFailure(error) ? error.reason : 'failed')
    throw error
  }
}

async function admitAndRun(
  runtime: Runtime,
  scope: Scope,
  call: Call,
  effects: CallEffects,
): Promise<CallToolResult | InputRequiredResult> {
  checkSize(call.arguments, runtime.declaration.messageLimits)
  try {
    const admitting = runtime.declaration.admit?.({
      tool: call.name,
      scope: scope.state.key,
      principal: scope.settings.principal,
      share: scope.settings.share,
    })
    // Awaiting `undefined` would delay every call by a turn of the event loop.
    if (admitting !== undefined) await admitting
    const admission = await admit(runtime, scope, call.name, effects)
    if (admission.kind === 'refused') return admission.result
    const { entry } = admission
    const isSurface = entry.source === surfaceSource
    const before = runtime.views.rendered(scope)
    if (entry.isDiscovery === true) {
      const result = await runDiscovery(entry, { runtime, scope, call, effects })
      return callsOthers(entry) && !isInputRequired(result) ? withChanges(runtime, scope, result, { effects, before }) : result
    }
    if (isSurface && !scope.settings.canActivate) return unchangedReply(groupMembers(runtime, scope, entry.activates))
    const result = await run(runtime, scope, entry, call, effects)
    if (isSurface || isInputRequired(result)) return result
    const complete = entry.isHandwritten === true ? withFixed(runtime, scope, result, effects) : result
    return withChanges(runtime, scope, complete, { effects, before })
  } catch (error) {
    if (isFailure(error, 'group_inactive')) return failureResult('group_inactive', parentFirst(runtime, scope, error.details))
    if (!isFailure(error) || reasons[error.reason] !== 'tool') throw error
    // A model can read these, but only the author can fix them.
    const { reason, message } = error
    if (reason === 'invalid_result' || reason === 'hook_failed')
      runtime.declaration.report({ reason, message, error: error.cause })
    return failureResult(reason, message)
  } finally {
    effects.isOpen = false
    if (effects.transitions.some(({ changed }) => changed)) {
      const notified = await runtime.announcer.notify(scope.state.scopes, { scope, alongside: alongside(call) })
      if (notified) await runtime.relists.wait(scope)
    }
  }
}

function parentFirst(runtime: Runtime, scope: Scope, { group, parent }: { group: string; parent: string }): string {
  const where = parent === gateName ? 'once the server is activated' : `inside "${parent}"`
  return `Group "${group}" can only be opened ${where}. Call '${activatorName(runtime.catalogs.of(scope).surface, parent)}' first.`
}

function alongside({ client }: Call): (() => Promise<void>) | undefined {
  return client === undefined ? undefined : () => client.notify('notifications/tools/list_changed')
}

/** The tools of a group that this scope may use now. */
function groupMembers(runtime: Runtime, scope: Scope, group: string | undefined): readonly Tool[] {
  const { forbidden, unavailable } = runtime.views.inputs(scope)
  const members = group === undefined ? [] : (runtime.catalogs.of(scope).catalog.byGroup.get(group) ?? [])
  return members.filter((member) => !forbidden.has(member) && !unavailable.has(member)).map(({ tool }) => tool)
}

/** Adds to the result of an activator that the author wrote which of its activations had no effect. */
function withFixed(runtime: Runtime, scope: Scope, result: CallToolResult, effects: CallEffects): CallToolResult {
  if (!effects.transitions.some(({ listIsFixed }) => listIsFixed === true)) return result
  const { content } = unchangedReply([...effects.requested].flatMap((group) => groupMembers(runtime, scope, group)))
  return { ...result, content: [...result.content, ...content] }
}

/** Adds to a result how this scope's list changed during the call, whether by activation or because facts changed. */
function withChanges(
  runtime: Runtime,
  scope: Scope,
  result: CallToolResult,
  { effects, before }: { readonly effects: CallEffects; readonly before: RenderedView },
): CallToolResult {
  const { transitions, reveals } = effects
  const activations = transitions.filter((transition) => transition.changed && !reveals.includes(transition))
  const texts = activations.map((transition) => transitionText(transition, openableGroups(runtime, scope, transition), ''))
  if (activations.length + reveals.length === 0) {
    const after = runtime.views.rendered(scope)
    if (after.fingerprint !== before.fingerprint) texts.push(changeText(before.tools, after.tools))
  }
  const added = texts.filter((text) => text !== '').map((text) => ({ type: 'text' as const, text }))
  const noted = reveals.length === 0 ? result : { ...result, _meta: { ...result._meta, ...revealMeta(reveals) } }
  return added.length === 0 ? noted : { ...noted, content: [...noted.content, ...added] }
}
