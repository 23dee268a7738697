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

/** Whether a method is one of ours, for some scope. */
export const isOwn = (method: string): boolean => [always, discoveryOperations].some((table) => Object.hasOwn(table, method))

/**
 * The operation behind a method for this scope, or `undefined` where the SDK answers. An adopted server answers for all of its
 * methods; its tools come back to these operations.
 */
export function operationFor({ declaration }: Runtime, { scopedServer }: Scope, method: string): Operation | undefined {
  if (scopedServer !== undefined) return undefined
  const tables = declaration.identity === false ? [always] : [always, discoveryOperations]
  return tables.find((table) => Object.hasOwn(table, method))?.[method]
}
