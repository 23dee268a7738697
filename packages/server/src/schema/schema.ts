import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv'
import { Failure, isRecord, type JsonSchema, type Problem, type Snapshot, type Tool } from '@unfold-mcp/core'
import { compileJsonSchema } from './json-schema.ts'
import type { FromJsonSchema } from './json-schema-type.ts'
import { isStandardSchema, type OutputOf, type StandardIssue, type StandardSchema } from './standard-schema.ts'

/** Shared by all SDK servers; each would otherwise create its own. */
export const jsonSchemaValidator = new AjvJsonSchemaValidator()

/** A Standard Schema that converts to JSON Schema, or JSON Schema itself. */
export type SchemaSource = StandardSchema | JsonSchema

/** Type of the validated value, as passed to a handler. */
export type ValueOf<S> = S extends { readonly '~standard': unknown } ? OutputOf<S> : FromJsonSchema<S>

export type ValidationResult = { readonly value: unknown } | { readonly problems: readonly Problem[] }

/** JSON Schema for clients, with the validator of values. */
export interface Schema {
  readonly json: JsonSchema
  /** `snapshot` is for schemas that depend on the current facts. */
  readonly check: (value: unknown, snapshot?: Snapshot) => ValidationResult | Promise<ValidationResult>
}

export type InputSchema = Schema & { readonly json: Tool['inputSchema'] }

const noInput: InputSchema = { json: { type: 'object', properties: {} }, check: (value) => ({ value }) }

/** Returns the input schema of a tool; MCP requires an object at the root. */
export function inputSchema(tool: string, source: SchemaSource | undefined): InputSchema {
  if (source === undefined) return noInput
  const { json, check } = createSchema(tool, source, 'input')
  if (json.type !== undefined && json.type !== 'object') {
    throw invalid(
      tool,
      `its input is of type ${JSON.stringify(json.type)}, but arguments are always an object. Wrap it in an object.`,
    )
  }
  return { json: { type: 'object', ...json }, check }
}

export function outputSchema(tool: string, source: SchemaSource): Schema {
  return createSchema(tool, source, 'output')
}

/** Throws for values that are neither Standard Schema nor JSON Schema, such as a plain object of zod schemas. */
export function checkSchemaSource(tool: string, source: unknown, io: 'input' | 'output'): void {
  if (source === undefined || isStandardSchema(source)) return
  if (!isRecord(source))
    throw invalid(tool, `its ${io} schema is ${kindOf(source)}. Use a zod schema or another Standard Schema, or JSON Schema.`)
  const { properties } = source as JsonSchema
  const inner = [source, properties].flatMap((object) => Object.values(object ?? {})).find(isLibrarySchema)
  if (inner === undefined) return
  const vendor = isStandardSchema(inner) ? inner['~standard'].vendor : 'zod'
  const wrapper = objectSchemas[vendor] ?? 'the object schema of that library'
  throw invalid(tool, `its ${io} schema is a plain object that holds ${vendor} schemas: wrap it in ${wrapper}.`)
}

/** Object schema constructors, by library. */
const objectSchemas: { readonly [vendor: string]: string } = {
  zod: 'z.object(…)',
  valibot: 'v.object(…)',
  arktype: 'type(…)',
}

// Zod before 3.24 does not implement Standard Schema.
const isLibrarySchema = (value: unknown): boolean =>
  isStandardSchema(value) || (typeof value === 'object' && value !== null && '_def' in value && 'safeParse' in value)

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`)

function createSchema(tool: string, source: SchemaSource, io: 'input' | 'output'): Schema {
  checkSchemaSource(tool, source, io)
  if (!isStandardSchema(source)) return { json: source, check: lazyJsonCheck(tool, source) }
  const { jsonSchema, validate, vendor } = source['~standard']
  if (jsonSchema === undefined) {
    throw invalid(
      tool,
      `its ${io} schema (${vendor}) cannot be converted to JSON Schema. Use the library's JSON Schema adapter, or write JSON Schema.`,
    )
  }
  return {
    json: withObjectType(jsonSchema[io]({ target: 'draft-2020-12' })),
    check: async (value) => {
      const result = await validate(value)
      return result.issues === undefined ? { value: result.value } : { problems: result.issues.map(toProblem) }
    },
  }
}

/** Some libraries omit the root type, which clients require. */
function withObjectType(json: Record<string, unknown>): JsonSchema {
  return json.type === undefined && isObjectSchema(json) ? { type: 'object', ...json } : json
}

function isObjectSchema(json: Record<string, unknown>): boolean {
  if (json.type !== undefined) return json.type === 'object'
  if (['properties', 'patternProperties', 'additionalProperties', 'required'].some((keyword) => keyword in json)) return true
  const branches = [json.oneOf, json.anyOf, json.allOf].find(Array.isArray)
  return branches !== undefined && branches.length > 0 && branches.every(isObjectSchema)
}

/** Compiles on first use: compiling is slow, and most tools are never called. */
export function lazyJsonCheck(tool: string, json: JsonSchema): Schema['check'] {
  let check: ((value: unknown) => ValidationResult) | undefined
  return (value) => {
    check ??= compileJsonSchema(tool, json)
    return check(value)
  }
}

function toProblem(issue: StandardIssue): Problem {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  return { path, message: issue.message }
}

function invalid(tool: string, problem: string): Failure {
  return new Failure('invalid_schema', `Tool "${tool}": ${problem}`, { tool, problem })
}
