import type { Tool } from '@unfold-mcp/core'
import type { Field } from '@unfold-mcp/core/form'
import { flagsOf, isShownFlag } from '../arguments/flags.ts'
import type { Candidate, KnownFlag } from './candidate.ts'

export function knownFlags(tool: Tool): readonly KnownFlag[] {
  return flagsOf(tool)
    .filter(isShownFlag)
    .map(({ text, name, negation, field }) => {
      const values = valuesOf(field)
      return {
        text,
        name,
        negation,
        description: field.description ?? (field.label === field.name ? undefined : field.label),
        ...(field.required && { isRequired: true }),
        ...((field.kind === 'list' || field.kind === 'multichoice') && { isList: true }),
        ...(field.kind === 'boolean' && { isSwitch: true }),
        ...(values.length > 0 && { values }),
      }
    })
}

function valuesOf(field: Field): readonly Candidate[] {
  if (field.kind === 'boolean') return [{ value: 'true' }, { value: 'false' }]
  if (field.kind === 'list') return valuesOf(field.item)
  if (field.kind === 'union') return field.branches.flatMap((branch) => valuesOf(branch.field))
  if (field.kind !== 'choice' && field.kind !== 'multichoice') return []
  return field.choices.map(({ value, label, description }) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
    return { value: text, description: description ?? (label === text ? undefined : label) }
  })
}
