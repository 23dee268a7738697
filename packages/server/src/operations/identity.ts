import { discovery, Failure } from '@unfold-mcp/core'
import { discoverable } from '../runtime/discoverable.ts'
import { groupTools } from '../runtime/groups.ts'
import { listIdentity, listState } from '../runtime/list-identity.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { stateIdentity } from '../view/identities.ts'
import type { OwnRequest, Params } from './operation.ts'
import { outlineOf } from './outline.ts'

const discoveryVersion = '1.0'

/** Sent when a client connects, so that most clients need no further request. */
export function extensionSettings(runtime: Runtime, scope: Scope): Params {
  const own = listIdentity(runtime, scope)
  return own === undefined
    ? {}
    : { version: discoveryVersion, identity: own, tools_count: runtime.views.rendered(scope).tools.length }
}

/** `server/identity`: the identity of the view, of the catalogue and of each group. */
export async function identity(runtime: Runtime, scope: Scope, { params, revision }: OwnRequest): Promise<object> {
  const { name, version } = scope.scopedServer?.info ?? runtime.declaration.info
  const { basis, stateful, outline: wantsOutline } = params
  if (basis !== undefined && basis !== 'names' && basis !== 'definitions')
    throw malformed(discovery.methods.identity, '"basis" is "definitions", or "names" for names and descriptions alone.')
  const listed = runtime.views.rendered(scope)
  const permitted = discoverable(runtime, scope)
  const own = runtime.identities.of(listed, basis)
  const outline = wantsOutline === true ? outlineOf(runtime, scope) : undefined
  const state = stateful === true ? stateIdentity(own, listState(runtime, scope)) : undefined
  return {
    server_id: own,
    tools_count: listed.tools.length,
    protocol_version: discoveryVersion,
    basis: basis ?? runtime.declaration.identity,
    catalog: {
      identity: runtime.identities.of(permitted, basis),
      tools_count: permitted.tools.length,
      ...(outline !== undefined && { tools: outline.tools }),
      ...(outline?.gate !== undefined && { gate: outline.gate }),
    },
    groups: Object.fromEntries(
      groupTools(runtime, scope).map(([group, tools]) => [
        group,
        { identity: runtime.identities.ofTools(tools, tools, basis), tools_count: tools.length, ...outline?.groups.get(group) },
      ]),
    ),
    ...(state !== undefined && { state_id: state }),
    ...(revision !== undefined && { mcp_version: revision }),
    server: { name, version },
    extensions: [discovery.extension],
  }
}

export function textIn(method: string, params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw malformed(method, `"${name}" is missing or not text. Send { "${name}": "…" }.`)
}

function malformed(method: string, problem: string): Failure {
  return new Failure('invalid_params', `Invalid ${method} request: ${problem}`, { problem })
}
