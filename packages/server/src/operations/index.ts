import { discovery } from '@unfold-mcp/core'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { call } from './call.ts'
import { changes } from './changes.ts'
import { describe } from './describe.ts'
import { identity } from './identity.ts'
import { list } from './list.ts'
import type { Operation } from './operation.ts'

const always: { readonly [method: string]: Operation } = { 'tools/list': list, 'tools/call': call }

const discoveryOperations: { readonly [method: string]: Operation } = {
  [discovery.methods.identity]: identity,
  [discovery.methods.describe]: describe,
  [discovery.methods.changes]: changes,
}

/** Whether a method is handled by an operation, for some scope. */
export const isOwn = (method: string): boolean => [always, discoveryOperations].some((table) => Object.hasOwn(table, method))

/**
 * The operation for a method, or `undefined` where the SDK handles it. An adopted server handles all of its methods itself, and
 * calls these operations for its tools.
 */
export function operationFor({ declaration }: Runtime, { scopedServer }: Scope, method: string): Operation | undefined {
  if (scopedServer !== undefined) return undefined
  const tables = declaration.identity === false ? [always] : [always, discoveryOperations]
  return tables.find((table) => Object.hasOwn(table, method))?.[method]
}
