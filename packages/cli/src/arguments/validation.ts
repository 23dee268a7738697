import { canonicalJson, isRecord } from '@unfold-mcp/core'
import { type Choice, type Constraints, type Field, fieldsIn } from '@unfold-mcp/core/form'
import { safeText } from '../text/safe.ts'
import { extraOf } from './flags.ts'

const maxProblems = 20

/** Problems of a value, such as `must be a number`; empty when it is valid. */
export function schemaProblems(field: Field, value: unknown, where = ''): readonly string[] {
  const problems = found(field, value, where)
  return problems.slice(0, maxProblems)
}

function found(field: Field, value: unknown, where: string): readonly string[] {
  if (value === null && field.nullable) return []
  const is = (isRight: boolean, wanted: string): readonly string[] =>
    isRight
      ? constraintProblems(field.constraints, value).map((problem) => said(where, problem))
      : [said(where, `must be ${wanted}`)]
  switch (field.kind) {
    case 'text':
    case 'multiline':
    case 'file':
      return is(typeof value === 'string', 'text')
    case 'number':
      return is(typeof value === 'number', 'a number')
    case 'integer':
      return is(Number.isInteger(value), 'a whole number')
    case 'boolean':
      return is(typeof value === 'boolean', 'true or false')
    case 'choice':
      return is(isAmong(field.choices, value), choicesText(field.choices))
    case 'multichoice':
    case 'list':
      return Array.isArray(value) ? itemsFound(field, value, where) : [said(where, 'must be a list')]
    case 'object':
      return isRecord(value) ? insideFound(field, value, where) : [said(where, 'must be an object')]
    case 'union':
      return unionFound(field, value, where)
    default:
      return is(field.types === undefined || field.types.some((type) => isOfType(type, value)), (field.types ?? []).join(' or '))
  }
}

function itemsFound(
  field: Field & { kind: 'list' | 'multichoice' },
  items: readonly unknown[],
  where: string,
): readonly string[] {
  const problems = constraintProblems(field.constraints, items).map((problem) => said(where, problem))
  for (const [index, item] of items.entries()) {
    if (problems.length >= maxProblems) break
    const at = `${where}[${index}]`
    if (field.kind === 'list') problems.push(...found(field.item, item, at))
    else if (!isAmong(field.choices, item)) problems.push(said(at, `must be ${choicesText(field.choices)}`))
  }
  return problems
}

function insideFound(field: Field, value: { readonly [key: string]: unknown }, where: string): readonly string[] {
  const fields = new Map(fieldsIn(field).map((inner) => [inner.name, inner]))
  const extra = extraOf(field)
  return Object.entries(value).flatMap(([name, inner]) => {
    const asked = fields.get(name) ?? extra
    return asked === undefined ? [] : found(asked, inner, where === '' ? name : `${where}.${name}`)
  })
}

function unionFound(field: Field & { kind: 'union' }, value: unknown, where: string): readonly string[] {
  const all = field.branches.map((branch) => found(branch.field, value, where))
  if (all.some((problems) => problems.length === 0)) return []
  return [said(where, `must be ${listed(field.branches.map(({ label }) => safeText(label, { limit: 60 })))}`)]
}

/** Violated constraints, except `pattern`, which the caller checks with a time limit. */
export function constraintProblems(limits: Constraints, value: unknown): string[] {
  if (typeof value === 'string') return ofLength(limits.minLength, limits.maxLength, lengthOf(value, limits), 'characters')
  if (Array.isArray(value)) return ofLength(limits.minItems, limits.maxItems, value.length, 'values')
  return typeof value === 'number' ? ofSize(limits, value) : []
}

function ofLength(least: number | undefined, most: number | undefined, length: number, unit: string): string[] {
  if (least !== undefined && length < least) return [`must have at least ${least} ${unit}, and has ${length}`]
  return most !== undefined && length > most ? [`must have at most ${most} ${unit}, and has ${length}`] : []
}

/** Length in code points, counted only when it is close to a limit. */
function lengthOf(text: string, { minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Constraints): number {
  return text.length <= maxLength && text.length / 2 >= minLength ? text.length : Array.from(text).length
}

function ofSize({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Constraints, value: number): string[] {
  const problems: string[] = []
  if (minimum !== undefined && value < minimum) problems.push(`must be ${minimum} or more`)
  if (maximum !== undefined && value > maximum) problems.push(`must be ${maximum} or less`)
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) problems.push(`must be more than ${exclusiveMinimum}`)
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

const listed = (words: readonly string[]): string => [...new Set(words)].join(' or ')

const said = (where: string, problem: string): string =>
  where === '' ? problem : `${safeText(where, { limit: 100 })} ${problem}`

function isOfType(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  return typeof value === type
}
