import { isRecord } from '@unfold-mcp/core'

/** The types that a schema can name, how each is told, and how it is said. */
const types = {
  string: { is: (value: unknown) => typeof value === 'string', said: 'a string' },
  number: { is: (value: unknown) => typeof value === 'number', said: 'a number' },
  integer: { is: (value: unknown) => Number.isInteger(value), said: 'an integer' },
  boolean: { is: (value: unknown) => typeof value === 'boolean', said: 'a boolean' },
  array: { is: (value: unknown) => Array.isArray(value), said: 'an array' },
  object: { is: isRecord, said: 'an object' },
  null: { is: (value: unknown) => value === null, said: 'null' },
} as const

type TypeName = keyof typeof types

export const isType = (name: unknown): name is TypeName => typeof name === 'string' && Object.hasOwn(types, name)

export const isOfType = (value: unknown, name: TypeName): boolean => types[name].is(value)

export const sayType = (name: TypeName): string => types[name].said

/** What a value is, said. */
export function sayTypeOf(value: unknown): string {
  const order: readonly TypeName[] = ['null', 'array', 'string', 'boolean', 'integer', 'number', 'object']
  const found = order.find((name) => isOfType(value, name))
  return found === undefined ? 'nothing' : sayType(found)
}
