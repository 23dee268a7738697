import { printable } from '@unfold-mcp/core'
import type { Attempt, Check, Location, SchemaObject } from '../check.ts'
import { type Evaluated, mergeEvaluated, nothingEvaluated } from '../evaluated.ts'
import { listOf } from './list-of.ts'

/** Checks the keywords that apply other schemas to the same value: `allOf`, `anyOf`, `oneOf`, `not` and `if`. */
export function checkAlternatives(check: Check, schema: SchemaObject, value: unknown, at: Location): Evaluated {
  const { allOf, anyOf, oneOf, not, if: condition } = schema
  let evaluated = nothingEvaluated
  const add = (more: Evaluated): void => {
    evaluated = mergeEvaluated(evaluated, more)
  }
  for (const each of listOf(allOf)) add(check.descend(each, value, at))
  if (Array.isArray(anyOf)) for (const each of attemptAll(check, anyOf, value, at).matching) add(each)
  if (Array.isArray(oneOf)) add(checkOneOf(check, oneOf, value, at))
  if (not !== undefined) {
    const excluded = check.attempt(not, value, at)
    if (excluded.evaluated !== undefined && excluded.isCertain) check.fail(at, 'must not match the excluded schema')
  }
  if (condition === undefined) return evaluated
  const tried = check.attempt(condition, value, at)
  if (!tried.isCertain) return evaluated
  if (tried.evaluated !== undefined) add(tried.evaluated)
  const consequence = tried.evaluated === undefined ? schema.else : schema.then
  if (consequence !== undefined) add(check.descend(consequence, value, at))
  return evaluated
}

function checkOneOf(check: Check, alternatives: readonly unknown[], value: unknown, at: Location): Evaluated {
  const { matching, isCertain } = attemptAll(check, alternatives, value, at)
  if (matching.length > 1 && isCertain)
    check.fail(at, `matches ${matching.length} of ${alternatives.length} alternatives, but must match exactly one`)
  return matching[0] ?? nothingEvaluated
}

function attemptAll(
  check: Check,
  alternatives: readonly unknown[],
  value: unknown,
  at: Location,
): { readonly matching: readonly Evaluated[]; readonly isCertain: boolean } {
  const attempts = alternatives.map((each) => check.attempt(each, value, at))
  const matching = attempts.flatMap(({ evaluated }) => evaluated ?? [])
  if (matching.length === 0) failAll(check, attempts, at)
  return { matching, isCertain: attempts.every(({ isCertain }) => isCertain) }
}

/** Reports the problems of the closest alternative, or the requirements of all of them. */
function failAll(check: Check, attempts: readonly Attempt[], at: Location): void {
  const here = at.path.map((part) => printable(part)).join('.')
  const [best] = attempts
    .map(({ problems }) => problems)
    .filter((problems) => problems.length > 0 && problems.every(({ path }) => path !== here))
    .sort((a, b) => a.length - b.length)
  if (best !== undefined) {
    at.problems.push(...best)
    return
  }
  const requirements = [
    ...new Set(attempts.flatMap(({ problems }) => problems.filter(({ path }) => path === here).map(({ message }) => message))),
  ]
  check.fail(at, requirements.length === 0 ? 'matches none of the alternatives' : joinMessages(requirements.slice(0, 5)))
}

/** Merges "must be a string, but is null" and "must be an integer, but is null". */
function joinMessages(messages: readonly string[]): string {
  const split = messages.map((message) => /^must be (.+), but is (.+)$/u.exec(message))
  const actual = split[0]?.[2]
  if (actual !== undefined && split.every((match) => match?.[2] === actual))
    return `must be ${split.map((match) => match?.[1]).join(' or ')}, but is ${actual}`
  return messages.join(', or ')
}
