import { discovery } from '@unfold-mcp/core'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { textIn } from './identity.ts'
import type { OwnRequest } from './operation.ts'
import { describeTool } from './tool-description.ts'

/** `tools/describe`: the documentation of one tool. */
export async function describe(runtime: Runtime, scope: Scope, { params }: OwnRequest): Promise<object> {
  return { ...describeTool(runtime, scope, textIn(discovery.methods.describe, params, 'name')) }
}
