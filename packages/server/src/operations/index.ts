import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { call } from './call.ts'
import { changes, changesMethod } from './changes.ts'
import { describe, describeMethod } from './describe.ts'
import { identity, identityMethod } from './identity.ts'
import { list } from './list.ts'
import type { Operation } from './operation.ts'

const always: { readonly [method: string]: Operation } = { 'tools/list': list, 'tools/call': call }

const discovery: { readonly [method: string]: Operation } = {
  [identityMethod]: identity,
  [describeMethod]: describe,
  [changesMethod]: changes,
}

/** Whether a method is one of ours, for some scope. */
export const isOwn = (method: string): boolean => [always, discovery].some((table) => Object.hasOwn(table, method))

/**
 * The operation behind a method for this scope, or `undefined` where the SDK answers. An adopted server answers for all of its
 * methods; its tools come back to these operations.
 */
export function operationFor({ declaration }: Runtime, { product }: Scope, method: string): Operation | undefined {
  if (product !== undefined) return undefined
  const tables = declaration.identity === false ? [always] : [always, discovery]
  return tables.find((table) => Object.hasOwn(table, method))?.[method]
}
