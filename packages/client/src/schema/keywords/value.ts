import { allowedValues, literalText, nearest, nearestHint, printable } from '@unfold-mcp/core'
import type { Check, Location, SchemaObject } from '../check.ts'
import { isEqual } from '../equality.ts'
import { isOfType, isType, typeLabel, valueTypeLabel } from '../types.ts'
import { checkCount } from './count.ts'
import { listOf } from './list-of.ts'

/** Checks `type`, `const` and `enum`. */
export function checkAnyValue(check: Check, schema: SchemaObject, value: unknown, at: Location): void {
  checkType(check, schema, value, at)
  if (Object.hasOwn(schema, 'const') && !isEqual(schema.const, value, check.meter))
    check.fail(at, `must be ${literalText(schema.const)}`)
  const allowed = schema.enum
  if (!Array.isArray(allowed) || allowed.some((each) => isEqual(each, value, check.meter))) return
  const texts = allowed.filter((each) => typeof each === 'string').slice(0, 1_000)
  const hint = typeof value === 'string' ? nearestHint(nearest(value, texts).map((text) => printable(text))) : ''
  check.fail(at, `must be one of ${allowedValues(allowed)}.${hint}`.replace(/\.$/u, ''))
}

function checkType(check: Check, { type, nullable }: SchemaObject, value: unknown, at: Location): void {
  const names = listOf(type)
  if (names.length === 0) return
  const known = names.filter(isType)
  if (known.length < names.length) {
    check.skip('unknown type')
    return
  }
  if (known.some((name) => isOfType(value, name)) || (value === null && nullable === true)) return
  check.fail(at, `must be ${known.map(typeLabel).join(' or ')}, but is ${valueTypeLabel(value)}`)
}

export function checkNumber(check: Check, schema: SchemaObject, value: number, at: Location): void {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = schema
  // Draft 4: booleans that modify `minimum` and `maximum`.
  if (typeof minimum === 'number' && (above === true ? value <= minimum : value < minimum))
    check.fail(at, `must be ${above === true ? 'more than' : 'at least'} ${minimum}`)
  if (typeof maximum === 'number' && (below === true ? value >= maximum : value > maximum))
    check.fail(at, `must be ${below === true ? 'less than' : 'at most'} ${maximum}`)
  if (typeof above === 'number' && value <= above) check.fail(at, `must be more than ${above}`)
  if (typeof below === 'number' && value >= below) check.fail(at, `must be less than ${below}`)
  if (typeof multipleOf === 'number' && multipleOf > 0 && !isMultiple(value, multipleOf))
    check.fail(at, `must be a multiple of ${multipleOf}`)
}

export function checkString(check: Check, schema: SchemaObject, value: string, at: Location): void {
  const { minLength, maxLength, pattern } = schema
  if (typeof minLength === 'number' || typeof maxLength === 'number') {
    check.meter.spend(value.length / 100)
    checkCount(check, at, Array.from(value).length, { min: minLength, max: maxLength, one: 'character' })
  }
  if (typeof pattern === 'string' && check.matches(pattern, value) === false)
    check.fail(at, `must match the pattern ${printable(pattern)}`)
}

// Decimal fractions are inexact in binary: 0.3 / 0.1 is not an integer.
function isMultiple(value: number, divisor: number): boolean {
  const times = value / divisor
  return !Number.isFinite(times) || Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}
