import { type Excess, type JsonSchema, type Problem, printable, ValidationCost } from '@unfold-mcp/core'

/** Values that take at most this many steps are validated without further ado: about 5 ms. */
export const cheapSteps = 100_000
/** Values that take more are rejected: about 100 ms, in which the server handles no other request. */
export const maxSteps = 1_000_000

// Longer paths are those of deeply nested values, which repeat.
const maxPathLength = 8

/** Describes a value that takes too long to validate, as a problem of the caller. */
export function excessProblem({ path, keyword }: Excess): Problem {
  const shown = path.slice(0, maxPathLength).map((part) => printable(part, 80))
  const limit = maxSteps.toLocaleString('en-US')
  return {
    path: [...shown, ...(path.length > maxPathLength ? ['…'] : [])].join('.'),
    message: `validating this takes more than ${limit} steps, most of them for "${keyword}". Send fewer elements at once, or nest them less`,
  }
}

const costs = new WeakMap<JsonSchema, ValidationCost>()

/** Returns a problem if validating the value would take too long, for schemas that another validator checks. */
export function costProblem(schema: JsonSchema, value: unknown): Problem | undefined {
  const cost = costs.get(schema) ?? new ValidationCost(schema, { uniqueItems: 'quadratic' })
  costs.set(schema, cost)
  const excess = cost.isWithin(value, cheapSteps) ? undefined : cost.excess(value, maxSteps)
  return excess === undefined ? undefined : excessProblem(excess)
}
