import { exampleOf, type Tool } from '@unfold-mcp/core'
import type { Field } from '@unfold-mcp/core/form'
import { flagTableOf } from './flags.ts'
import { setProperty } from './property.ts'

const maxOptional = 3

/** Example arguments: all required ones, then with a few optional ones. */
export function exampleArguments(tool: Tool): readonly { readonly [name: string]: unknown }[] {
  const { fields } = flagTableOf(tool).form
  const required = fields.filter((field) => field.required)
  const optional = fields.filter((field) => !field.required && field.kind !== 'json').slice(0, maxOptional)
  const least = exampleObject(required)
  return optional.length === 0
    ? [least]
    : [least, exampleObject(fields.filter((field) => field.required || optional.includes(field)))]
}

function exampleObject(fields: readonly Field[]): { readonly [name: string]: unknown } {
  const sample = {}
  for (const field of fields) setProperty(sample, field.name, exampleValue(field))
  return sample
}

function exampleValue(field: Field): unknown {
  if (field.default !== undefined && field.default !== null) return field.default
  switch (field.kind) {
    case 'choice':
      return field.choices[0]?.value
    case 'multichoice':
      return field.choices.slice(0, Math.max(1, Math.min(field.constraints.minItems ?? 1, 3))).map(({ value }) => value)
    case 'list':
      return [exampleValue(field.item)]
    case 'object':
      return exampleObject(
        field.fields.some(({ required }) => required)
          ? field.fields.filter(({ required }) => required)
          : field.fields.slice(0, 1),
      )
    case 'union':
      return field.branches[0] === undefined ? null : exampleValue(field.branches[0].field)
    case 'json':
      return exampleOf(field.schema) ?? (field.types?.[0] === 'object' ? {} : field.types?.[0] === 'array' ? [] : 'text')
    case 'text':
    case 'multiline':
    case 'file':
      return exampleOf({ type: 'string', ...field.schema })
    default:
      return exampleOf({ ...field.schema, type: field.kind })
  }
}
