import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

type Schema = Readonly<Record<string, unknown>>
type Errors = readonly ErrorObject[] | null

const load = createRequire(import.meta.url)
const harSchemas = fileURLToPath(import.meta.resolve('har-schema'))
const sarifSchema = fileURLToPath(import.meta.resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'))
const validateHar = harValidator(load(harSchemas) as Readonly<Record<string, Schema>>)
const validateSarif = sarifValidator(load(sarifSchema) as Schema)

/** The errors of a file against the published HAR 1.2 schema, or null. */
export function harErrors(file: unknown): Errors {
  return errorsOf(validateHar, file)
}

/** The errors of a log against the published SARIF 2.1.0 schema, or null. */
export function sarifErrors(log: unknown): Errors {
  return errorsOf(validateSarif, log)
}

/** Serialized first, as readers get it. */
function errorsOf(validate: ValidateFunction, value: unknown): Errors {
  validate(JSON.parse(JSON.stringify(value)))
  return validate.errors ?? null
}

function harValidator(schemas: Readonly<Record<string, Schema>>): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  // They declare an old draft, but use nothing that differs from the current one.
  for (const { $schema: _draft, ...schema } of Object.values(schemas)) ajv.addSchema(schema)
  const whole = ajv.getSchema('har.json#')
  if (whole === undefined) throw new Error('har-schema has no schema of a whole file')
  return whole
}

function sarifValidator({ $schema: _draft, id: _id, ...schema }: Schema): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false })
  addFormats.default(ajv)
  return ajv.compile(schema)
}
