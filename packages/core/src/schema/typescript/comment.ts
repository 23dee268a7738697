import { isRecord } from '../../base/record.ts'
import { truncate } from '../../base/truncate.ts'
import type { JsonSchema } from '../../tool/tool.ts'
import { listOf } from '../form/reader.ts'
import { commentText } from './text.ts'

const longestDescription = 300
const longestValue = 80

/** Arguments have to fit a schema; results are only read. */
export type Use = 'argument' | 'result'

/** What the comment of a property says: its description, and what its type cannot say. */
export function propertyComment(schema: unknown, use: Use): string {
  if (!isRecord(schema)) return ''
  const about = typeof schema.description === 'string' ? commentText(schema.description, longestDescription) : ''
  const notes = commentText([...notesOf(schema, use), ...notesOf(onlyBranch(schema), use)].join(', '), longestDescription)
  if (about === '' || notes === '') return about + notes
  return `${about}${/[.!?…]$/u.test(about) ? '' : '.'} ${notes}`
}

/** The branch of an optional value: `anyOf: [X, null]`. */
function onlyBranch(schema: JsonSchema): JsonSchema {
  const branches = listOf(schema.anyOf ?? schema.oneOf).filter((branch) => isRecord(branch) && branch.type !== 'null')
  return branches.length === 1 ? (branches[0] as JsonSchema) : {}
}

function notesOf(schema: JsonSchema, use: Use): readonly string[] {
  const { format, pattern, deprecated, readOnly } = schema
  const always = [...(deprecated === true ? ['deprecated'] : []), ...(typeof format === 'string' ? [format] : [])]
  if (use === 'result') return always
  return [
    ...always,
    ...(readOnly === true ? ['read-only'] : []),
    ...(schema.type === 'integer' ? ['integer'] : []),
    ...limits.flatMap(([keyword, text]) => (isLimit(schema[keyword]) ? [`${text} ${schema[keyword]}`] : [])),
    ...(typeof pattern === 'string' && pattern.length <= longestValue ? [`pattern ${pattern}`] : []),
    ...('default' in schema ? [`default ${valueText(schema.default)}`] : []),
  ]
}

// Some generators add the largest numbers that a type can represent.
const isLimit = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER

const limits = [
  ['minimum', '≥'],
  ['exclusiveMinimum', '>'],
  ['maximum', '≤'],
  ['exclusiveMaximum', '<'],
  ['multipleOf', 'multiple of'],
  ['minLength', 'min length'],
  ['maxLength', 'max length'],
  ['minItems', 'min items'],
  ['maxItems', 'max items'],
] as const

// A default that is an object may be large or nested too deeply to print.
const valueText = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length === 0
      ? Array.isArray(value)
        ? '[]'
        : '{}'
      : '…'
    : truncate(JSON.stringify(value) ?? 'undefined', longestValue)
