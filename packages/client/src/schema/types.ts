import { isRecord } from '@unfold-mcp/core'

const types = {
  string: { matches: (value: unknown) => typeof value === 'string', label: 'a string' },
  number: { matches: (value: unknown) => typeof value === 'number', label: 'a number' },
  integer: { matches: (value: unknown) => Number.isInteger(value), label: 'an integer' },
  boolean: { matches: (value: unknown) => typeof value === 'boolean', label: 'a boolean' },
  array: { matches: (value: unknown) => Array.isArray(value), label: 'an array' },
  object: { matches: isRecord, label: 'an object' },
  null: { matches: (value: unknown) => value === null, label: 'null' },
} as const

type TypeName = keyof typeof types

export const isType = (name: unknown): name is TypeName => typeof name === 'string' && Object.hasOwn(types, name)

export const isOfType = (value: unknown, name: TypeName): boolean => types[name].matches(value)

export const typeLabel = (name: TypeName): string => types[name].label

export function valueTypeLabel(value: unknown): string {
  const order: readonly TypeName[] = ['null', 'array', 'string', 'boolean', 'integer', 'number', 'object']
  const name = order.find((each) => isOfType(value, each))
  return name === undefined ? 'undefined' : typeLabel(name)
}
