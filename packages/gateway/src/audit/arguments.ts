import { canonicalJson } from '@unfold-mcp/core'
import { jsonSize } from '../base/json-size.ts'
import type { AuditArguments } from '../config/schema.ts'
import { matcher } from '../names/pattern.ts'
import { hashLine } from './record.ts'

/** Arguments as far as they are recorded. */
export interface RecordedArguments {
  /** SHA-256 of their canonical JSON. */
  readonly argumentsDigest?: string
  readonly arguments?: unknown
}

export interface ArgumentRules {
  readonly arguments: AuditArguments
  /** By pattern of the exposed name; the first match applies. */
  readonly tools: { readonly [pattern: string]: AuditArguments }
}

/** Returns a function that decides how the arguments of a tool are recorded. */
export function argumentRules({ arguments: byDefault, tools }: ArgumentRules): (exposedName: string) => AuditArguments {
  const rules = Object.entries(tools).map(([pattern, rule]) => ({ matches: matcher([pattern]), rule }))
  return (name) => rules.find(({ matches }) => matches(name))?.rule ?? byDefault
}

// Larger arguments are recorded as their digest.
const maxCharacters = 65_536

/** Returns what is recorded of the arguments. `redact` removes known secrets. */
export function recordedArguments(value: unknown, rule: AuditArguments, redact: (value: unknown) => unknown): RecordedArguments {
  if (rule === 'omit') return {}
  const argumentsDigest = digestOf(value)
  if (rule === 'hash' || jsonSize(value, maxCharacters) > maxCharacters) return { argumentsDigest }
  return { argumentsDigest, arguments: redact(rule === 'mask' ? masked(value) : value) }
}

/** SHA-256 of the canonical JSON (RFC 8785), as hexadecimal digits. */
const digestOf = (value: unknown): string => hashLine(canonicalJson(value))

/** Keeps keys, lengths, booleans and null. */
function masked(value: unknown): unknown {
  if (typeof value === 'string') return `[${value.length} characters]`
  if (typeof value === 'number') return '[number]'
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, masked(each)]))
}
