import { Failure, gateName } from '@unfold-mcp/core'
import { activate, deactivate, toolListChanged } from '../../runtime/activation.ts'
import { groupStatuses, isActive } from '../../runtime/groups.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import type { ClientMethod, ClientPort } from '../../tool/client-port.ts'
import type { ToolContext } from '../../tool/context.ts'
import type { Transition } from '../../tool/transition.ts'
import type { Call, CallEffects } from './call.ts'

/** The `ctx` that a handler gets. */
export function contextOf(
  runtime: Runtime,
  scope: Scope,
  call: Call,
  { signal, effects }: { signal: AbortSignal; effects: CallEffects },
): ToolContext {
  const { client, meta, envelope, inputResponses, requestState, script } = call
  const record = async (work: Promise<Transition>): Promise<Transition> => {
    const transition = await work
    if (effects.isOpen) effects.transitions.push(transition)
    else if (transition.changed) runtime.announcer.notifySoon(scope.state.scopes)
    return transition
  }
  return Object.assign(new CallContext({ runtime, scope, call, effects }), {
    scope: scope.state.key,
    era: scope.settings.era,
    principal: scope.settings.principal,
    share: scope.settings.share,
    facts: runtime.views.facts(),
    signal,
    meta,
    envelope,
    inputResponses,
    requestState,
    isRepeated: inputResponses !== undefined || requestState !== undefined,
    script,
    client,
    isActive: (group = gateName) => isActive(runtime, scope, group),
    groups: () => groupStatuses(runtime, scope),
    activate(group = gateName) {
      effects.requested.add(group)
      return record(activate(runtime, scope, group))
    },
    deactivate: (group = gateName) => record(deactivate(runtime, scope, group)),
    toolListChanged: () => toolListChanged(runtime),
    elicit: (params) => askClient(client, 'elicitation/create', params, signal) as ReturnType<ToolContext['elicit']>,
    sample: (params) => askClient(client, 'sampling/createMessage', params, signal) as ReturnType<ToolContext['sample']>,
    async progress(progress, total, message) {
      const progressToken = meta?.progressToken
      if (progressToken === undefined) return
      const params = { progressToken, progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
      await client?.notify('notifications/progress', params)
    },
    async log(level, data, logger) {
      await client?.log(level, data, logger)
    },
  } satisfies Omit<ToolContext, 'request'>)
}

/** What a context was made of. */
export interface ContextParts {
  readonly runtime: Runtime
  readonly scope: Scope
  readonly call: Call
  readonly effects: CallEffects
}

/** Converts the HTTP request when it is read. A getter in an object literal would give every call a hidden class of its own. */
class CallContext {
  readonly #parts: ContextParts

  constructor(parts: ContextParts) {
    this.#parts = parts
  }

  static partsOf(context: object): ContextParts | undefined {
    return #parts in context ? context.#parts : undefined
  }

  get request(): Request | undefined {
    return this.#parts.call.http?.()
  }
}

/** Only for the context of a call that a served toolbox made, not for a copy of it. */
export const partsOf = (context: object): ContextParts | undefined => CallContext.partsOf(context)

async function askClient(
  client: ClientPort | undefined,
  method: ClientMethod,
  params: object,
  signal: AbortSignal,
): Promise<unknown> {
  if (client !== undefined) return client.ask(method, params, { signal })
  throw new Failure('no_scope', `Cannot send ${method}: the call came without a transport, so there is no client.`, {
    operation: method,
  })
}
