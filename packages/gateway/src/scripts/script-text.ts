import { isRecord, type JsonSchema, schemaOfShape, shapeOf } from '@unfold-mcp/core'

/** The text of a script file for the code of a successful `run_code`. Its input schema has the shape of the recorded input. */
export function scriptFrom(code: string, input: unknown): string {
  const schema = isRecord(input) ? withoutExamples(schemaOfShape(shapeOf(input))) : undefined
  return [
    '// What a model reads to decide whether to call this script.',
    "export const description = 'Describe what this script does.'",
    '',
    ...(schema === undefined ? [] : [`export const input = ${literal(schema)}`, '']),
    `export default async function (${schema === undefined ? '' : 'input'}) {`,
    code.replace(/\n+$/u, ''),
    '}',
    '',
  ].join('\n')
}

const withoutExamples = (schema: JsonSchema): JsonSchema => (schema.type === undefined ? { ...schema, type: 'object' } : schema)

/** JSON as it is usually written in JavaScript. */
const literal = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).replaceAll(/^(\s*)"([A-Za-z_$][\w$]*)":/gmu, '$1$2:')

const named = /^[A-Za-z0-9_-]{1,64}$/u

/** True if a script can have this name. */
export const scriptName = (name: string): boolean => named.test(name)
