import { canonicalJson, isRecord } from '@unfold-mcp/core'
import { type Choice, type Constraints, type Field, fieldsIn } from '@unfold-mcp/core/form'
import { safeText } from '../text/safe.ts'
import { extraOf } from './flags.ts'

const maxProblems = 20

/** Problems of a value, such as `must be a number`; empty when it is valid. */
export const schemaProblems = (field: Field, value: unknown, path = ''): readonly string[] =>
  fieldProblems(field, value, path).slice(0, maxProblems)

function fieldProblems(field: Field, value: unknown, path: string): readonly string[] {
  if (value === null && field.nullable) return []
  const is = (isValid: boolean, expected: string): readonly string[] =>
    isValid ? constraintProblems(field.constraints, value).map((problem) => at(path, problem)) : [at(path, `must be ${expected}`)]
  switch (field.kind) {
    case 'text':
    case 'multiline':
    case 'file':
      return is(typeof value === 'string', 'a string')
    case 'number':
      return is(typeof value === 'number', 'a number')
    case 'integer':
      return is(Number.isInteger(value), 'an integer')
    case 'boolean':
      return is(typeof value === 'boolean', 'true or false')
    case 'choice':
      return is(isAmong(field.choices, value), choicesText(field.choices))
    case 'multichoice':
    case 'list':
      return Array.isArray(value) ? itemProblems(field, value, path) : [at(path, 'must be a list')]
    case 'object':
      return isRecord(value) ? propertyProblems(field, value, path) : [at(path, 'must be an object')]
    case 'union':
      return unionProblems(field, value, path)
    default:
      return is(field.types === undefined || field.types.some((type) => isOfType(type, value)), (field.types ?? []).join(' or '))
  }
}

function itemProblems(
  field: Field & { kind: 'list' | 'multichoice' },
  items: readonly unknown[],
  path: string,
): readonly string[] {
  const problems = constraintProblems(field.constraints, items).map((problem) => at(path, problem))
  for (const [index, item] of items.entries()) {
    if (problems.length >= maxProblems) break
    const itemPath = `${path}[${index}]`
    if (field.kind === 'list') problems.push(...fieldProblems(field.item, item, itemPath))
    else if (!isAmong(field.choices, item)) problems.push(at(itemPath, `must be ${choicesText(field.choices)}`))
  }
  return problems
}

function propertyProblems(field: Field, value: { readonly [key: string]: unknown }, path: string): readonly string[] {
  const fields = new Map(fieldsIn(field).map((inner) => [inner.name, inner]))
  const extra = extraOf(field)
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = fields.get(name) ?? extra
    return property === undefined ? [] : fieldProblems(property, inner, path === '' ? name : `${path}.${name}`)
  })
}

function unionProblems(field: Field & { kind: 'union' }, value: unknown, path: string): readonly string[] {
  const all = field.branches.map((branch) => fieldProblems(branch.field, value, path))
  if (all.some((problems) => problems.length === 0)) return []
  return [at(path, `must be ${[...new Set(field.branches.map(({ label }) => safeText(label, { limit: 60 })))].join(' or ')}`)]
}

/** Violated constraints, except `pattern`, which the caller checks with a time limit. */
export function constraintProblems(limits: Constraints, value: unknown): string[] {
  if (typeof value === 'string') return lengthProblems(limits.minLength, limits.maxLength, lengthOf(value, limits), 'characters')
  if (Array.isArray(value)) return lengthProblems(limits.minItems, limits.maxItems, value.length, 'values')
  return typeof value === 'number' ? rangeProblems(limits, value) : []
}

function lengthProblems(min: number | undefined, max: number | undefined, length: number, unit: string): string[] {
  if (min !== undefined && length < min) return [`must have at least ${min} ${unit} (has ${length})`]
  return max !== undefined && length > max ? [`must have at most ${max} ${unit} (has ${length})`] : []
}

/** Length in code points, counted only when it is close to a limit. */
function lengthOf(text: string, { minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Constraints): number {
  return text.length <= maxLength && text.length / 2 >= minLength ? text.length : Array.from(text).length
}

function rangeProblems(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Constraints,
  value: number,
): string[] {
  const problems: string[] = []
  if (minimum !== undefined && value < minimum) problems.push(`must be at least ${minimum}`)
  if (maximum !== undefined && value > maximum) problems.push(`must be at most ${maximum}`)
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) problems.push(`must be greater than ${exclusiveMinimum}`)
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) problems.push(`must be less than ${exclusiveMaximum}`)
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) problems.push(`must be a multiple of ${multipleOf}`)
  return problems
}

// 0.3 is a multiple of 0.1, despite floating point.
function isMultiple(value: number, of: number): boolean {
  const times = value / of
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}

function isAmong(choices: readonly Choice[], value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return choices.some((choice) => choice.value === value)
  const text = canonicalJson(value)
  return choices.some((choice) => typeof choice.value === 'object' && canonicalJson(choice.value) === text)
}

const maxChoices = 12

export function choicesText(choices: readonly Choice[]): string {
  const shown = choices.slice(0, maxChoices).map(({ value }) => safeText(choiceText(value), { limit: 60 }))
  if (choices.length > shown.length) return `one of ${shown.join(', ')} and ${choices.length - shown.length} more`
  return shown.length === 1 ? (shown[0] ?? '') : `one of ${shown.join(', ')}`
}

export const choiceText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'))

const at = (path: string, problem: string): string => (path === '' ? problem : `${safeText(path, { limit: 100 })} ${problem}`)

function isOfType(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  return typeof value === type
}
