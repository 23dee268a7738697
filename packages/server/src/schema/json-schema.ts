import { createRequire } from 'node:module'
import { addFormats } from '@modelcontextprotocol/server/validators/ajv'
import { Failure, type JsonSchema, type Problem } from '@unfold-mcp/core'
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'

// `addUsedSchema: false`: two tools may have schemas with the same `$id`. `ownProperties`: a parameter may be called `constructor`,
// which every object inherits.
const options = { allErrors: true, strict: false, validateSchema: false, addUsedSchema: false, ownProperties: true }
let ajv: Ajv2020 | undefined

/** Loads Ajv with the first schema, so that servers that validate nothing start faster. */
function loadAjv(): Ajv2020 {
  if (ajv === undefined) {
    const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
    ajv = new Ajv2020(options)
    addFormats(ajv)
  }
  return ajv
}

/** Returns a validator that reports every problem; throws `invalid_schema` for an invalid schema. */
export function compileJsonSchema(
  tool: string,
  schema: JsonSchema,
): (value: unknown) => { value: unknown } | { problems: readonly Problem[] } {
  const validate = compile(tool, schema)
  return (value) => (validate(value) ? { value } : { problems: (validate.errors ?? []).map(toProblem) })
}

function compile(tool: string, schema: JsonSchema) {
  try {
    return loadAjv().compile(schema)
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
  if (keyword === 'enum')
    return `must be one of ${(params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`
  if (keyword === 'additionalProperties') return `unknown property "${params.additionalProperty}"`
  return message
}
