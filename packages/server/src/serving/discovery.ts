import type { Server, StandardSchemaV1 } from '@modelcontextprotocol/server'
import { Failure } from '@unfold-mcp/core'
import { describeTool } from '../runtime/describing.ts'
import { stateIdentity } from '../runtime/identities.ts'
import { outlineOf } from '../runtime/outline.ts'
import { reachOf } from '../runtime/reach.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../runtime/scope.ts'

/** The name under which this library announces itself among a server's extensions. */
export const extensionId = 'io.github.unfold-mcp/discovery'
/** Where in `_meta` the identity of a list stands. */
export const identityMeta = 'io.github.unfold-mcp/identity'

export const identityMethod = 'server/identity'
export const describeMethod = 'tools/describe'
export const changesMethod = 'io.github.unfold-mcp/changes'

/** The version of what these methods speak. */
const discoveryVersion = '1.0'

/** What a client may know before it asks: most need no further request. */
export function extensionSettings(runtime: Runtime, scope: Scope): { readonly [key: string]: unknown } {
  const identity = runtime.identity(scope)
  return identity === undefined
    ? {}
    : { version: discoveryVersion, identity, tools_count: runtime.views.shown(scope).tools.length }
}

/** `_meta` of a list; nothing where identity is switched off. */
export function listMeta(runtime: Runtime, scope: Scope): { readonly _meta?: { readonly [key: string]: unknown } } {
  const identity = runtime.identityOfList(scope)
  return identity === undefined ? {} : { _meta: { [identityMeta]: identity } }
}

/** Answers for the identity of the tools, the documentation of one, and what changed since a list that a client has. */
export function withDiscovery(runtime: Runtime, scope: Scope, server: Server, onTheWire: <T>(work: () => T) => Promise<T>): void {
  if (runtime.declaration.identity === false) return
  const answer = (method: string, work: (params: Params) => Params): void =>
    server.setRequestHandler(method, { params: anyObject }, async (params) => {
      await scope.product?.upToDate()
      return onTheWire(() => work(params))
    })
  answer(identityMethod, (params) => identityAnswer(runtime, scope, params, server.getNegotiatedProtocolVersion?.()))
  answer(describeMethod, (params) => ({ ...describeTool(runtime, scope, textIn(describeMethod, params, 'name')) }))
  answer(changesMethod, (params) => changesAnswer(runtime, scope, textIn(changesMethod, params, 'since')))
}

function identityAnswer(runtime: Runtime, scope: Scope, params: Params, revision: string | undefined): Params {
  const { name, version } = scope.product?.info ?? runtime.declaration.info
  const { basis, stateful, outline: wantsOutline } = params
  if (basis !== undefined && basis !== 'names' && basis !== 'definitions')
    throw malformed(identityMethod, '"basis" is "definitions", or "names" for names and descriptions alone.')
  const shown = runtime.views.shown(scope)
  const whole = reachOf(runtime, scope)
  const identity = runtime.identities.of(shown, basis)
  const outline = wantsOutline === true ? outlineOf(runtime, scope) : undefined
  const state = stateful === true ? stateIdentity(identity, runtime.stateOf(scope)) : undefined
  return {
    server_id: identity,
    tools_count: shown.tools.length,
    protocol_version: discoveryVersion,
    basis: basis ?? runtime.declaration.identity,
    catalog: {
      identity: runtime.identities.of(whole, basis),
      tools_count: whole.tools.length,
      ...(outline !== undefined && { tools: outline.tools }),
      ...(outline?.gate !== undefined && { gate: outline.gate }),
    },
    groups: Object.fromEntries(
      runtime
        .groupTools(scope)
        .map(([group, tools]) => [
          group,
          { identity: runtime.identities.ofTools(tools, tools, basis), tools_count: tools.length, ...outline?.groups.get(group) },
        ]),
    ),
    ...(state !== undefined && { state_id: state }),
    ...(revision !== undefined && { mcp_version: revision }),
    server: { name, version },
    extensions: [extensionId],
  }
}

function changesAnswer(runtime: Runtime, scope: Scope, since: string): Params {
  const { tools } = runtime.views.shown(scope)
  const delta = runtime.changesSince(scope, since)
  // What is told here is what the client has from now on: it may ask for what changed since this.
  const identity = runtime.identityOfList(scope)
  if (since === identity) return { identity, known: true, added: [], changed: [], removed: [] }
  if (delta !== undefined) return { identity, known: true, ...delta }
  return { identity, known: false, tools_count: tools.length, message: 'That list is not remembered. List the tools again.' }
}

type Params = { readonly [name: string]: unknown }

/** Params of any shape: what is wrong with them is said in words by whoever reads them. */
const anyObject: StandardSchemaV1<unknown, Params> = {
  '~standard': { version: 1, vendor: 'unfold', validate: (value) => ({ value: (value ?? {}) as Params }) },
}

function textIn(method: string, params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw malformed(method, `"${name}" is missing or no text. Send { "${name}": "…" }.`)
}

function malformed(method: string, problem: string): Failure {
  return new Failure('invalid_params', `This ${method} cannot be read: ${problem}`, { problem })
}
