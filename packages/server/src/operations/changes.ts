import { discovery } from '@unfold-mcp/core'
import { changesSince, rememberList } from '../runtime/list-identity.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { textIn } from './identity.ts'
import type { OwnRequest } from './operation.ts'

/** `io.github.unfold-mcp/changes`: the changes since the list with a given identity. */
export async function changes(runtime: Runtime, scope: Scope, { params }: OwnRequest): Promise<object> {
  const since = textIn(discovery.methods.changes, params, 'since')
  const { tools } = runtime.views.rendered(scope)
  const delta = changesSince(runtime, scope, since)
  // The client has this list from now on, so it may ask for changes since.
  const identity = rememberList(runtime, scope)
  if (since === identity) return { identity, known: true, added: [], changed: [], removed: [] }
  if (delta !== undefined) return { identity, known: true, ...delta }
  return { identity, known: false, tools_count: tools.length, message: 'This list identity is unknown. List the tools again.' }
}
