import { createRequire } from 'node:module'
import { addFormats } from '@modelcontextprotocol/server/validators/ajv'
import { allowedValues, Failure, type JsonSchema, type Problem, printable, ValidationCost } from '@unfold-mcp/core'
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { cheapSteps, excessProblem, maxSteps } from './cost-limit.ts'
import { uniqueItems } from './unique-items.ts'

// `addUsedSchema: false`: two tools may have schemas with the same `$id`. `ownProperties`: a parameter may be called `constructor`,
// which every object inherits.
const options = { strict: false, validateSchema: false, addUsedSchema: false, ownProperties: true }
/** Validators that report all problems, and those that stop at the first. */
const validators = new Map<'all' | 'first', Ajv2020>()

/** Loads Ajv with the first schema, so that servers that validate nothing start faster. */
function loadAjv(problems: 'all' | 'first'): Ajv2020 {
  const loaded = validators.get(problems)
  if (loaded !== undefined) return loaded
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const ajv = new Ajv2020({ ...options, allErrors: problems === 'all' })
  addFormats(ajv)
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems)
  validators.set(problems, ajv)
  return ajv
}

type Check = (value: unknown) => { value: unknown } | { problems: readonly Problem[] }

/**
 * Returns a validator of bounded cost; throws `invalid_schema` for an invalid schema. It reports every problem, only the first if
 * there could be very many, and none but the cost if validating takes too long.
 */
export function compileJsonSchema(tool: string, schema: JsonSchema): Check {
  const compiled = new Map<'all' | 'first', ValidateFunction>()
  const validate = (problems: 'all' | 'first', value: unknown): readonly ErrorObject[] => {
    const validator = compiled.get(problems) ?? compile(tool, schema, problems)
    compiled.set(problems, validator)
    const errors = validator(value) ? [] : (validator.errors ?? [])
    // The validator would keep them, and with them parts of the value.
    validator.errors = null
    return errors
  }
  let cost: ValidationCost | undefined
  return (value) => {
    cost ??= new ValidationCost(schema, { uniqueItems: 'linear' })
    const isCheap = cost.isWithin(value, cheapSteps)
    const excess = isCheap ? undefined : cost.excess(value, maxSteps)
    if (excess !== undefined) return { problems: [excessProblem(excess)] }
    const errors = validate(isCheap ? 'all' : 'first', value)
    if (errors.length === 0) return { value }
    const problems = errors.slice(0, maxProblems).map(toProblem)
    return { problems: isCheap ? problems : [...problems, furtherProblems] }
  }
}

/** More are never shown. */
const maxProblems = 1_000

const furtherProblems: Problem = { path: '', message: 'there may be further problems: large values are checked up to the first' }

function compile(tool: string, schema: JsonSchema, problems: 'all' | 'first'): ValidateFunction {
  try {
    return loadAjv(problems).compile(schema)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new Failure('invalid_schema', `Tool "${tool}": invalid schema: ${problem}`, { tool, problem }, { cause: error })
  }
}

function toProblem(error: ErrorObject): Problem {
  const path = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  return { path, message: describe(error) }
}

function describe({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${allowedValues(params.allowedValues as readonly unknown[])}`
  if (keyword === 'additionalProperties') return `unknown property "${printable(String(params.additionalProperty))}"`
  return message
}
