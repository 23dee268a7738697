import { createRequire } from 'node:module'
import { addFormats } from '@modelcontextprotocol/server/validators/ajv'
import { Failure, type JsonSchema, type Problem } from '@unfold-mcp/core'
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'

// Schemas are kept out of the engine's registry: two tools may carry the same `$id`. A parameter may be called `constructor`,
// which every object seems to have, so only own properties count.
const options = { allErrors: true, strict: false, validateSchema: false, addUsedSchema: false, ownProperties: true }
let made: Ajv2020 | undefined

/** Loaded with the first schema: a server that checks nothing itself need not wait for it when it starts. */
function engine(): Ajv2020 {
  if (made === undefined) {
    const ajv = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
    made = new ajv.Ajv2020(options)
    addFormats(made)
  }
  return made
}

/** A check of values against a JSON Schema that finds every problem; throws `invalid_schema` for one that cannot be used. */
export function compileJsonSchema(
  tool: string,
  schema: JsonSchema,
): (value: unknown) => { value: unknown } | { problems: readonly Problem[] } {
  const validate = compiled(tool, schema)
  return (value) => (validate(value) ? { value } : { problems: (validate.errors ?? []).map(problemOf) })
}

function compiled(tool: string, schema: JsonSchema) {
  try {
    return engine().compile(schema)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new Failure(
      'invalid_schema',
      `Tool "${tool}": its schema cannot be used: ${problem}`,
      { tool, problem },
      { cause: error },
    )
  }
}

function problemOf(error: ErrorObject): Problem {
  const path = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  return { path, message: messageOf(error) }
}

function messageOf({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  if (keyword === 'enum')
    return `must be one of ${(params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`
  if (keyword === 'additionalProperties') return `has no property "${params.additionalProperty}"`
  return message
}
