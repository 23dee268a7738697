import { canonicalJson } from '@unfold-mcp/core'
import type { Choice, Field } from '@unfold-mcp/core/form'
import { safeText } from '../text/safe.ts'
import { keepsDigits, precisionProblem, readJson } from './json.ts'
import { choicesText, choiceText, constraintProblems, schemaProblems } from './validation.ts'

export type ValueRead = { readonly value: unknown } | { readonly problems: readonly string[] }

export type ItemsRead = { readonly items: readonly unknown[] } | { readonly problems: readonly string[] }

export type ListField = Field & { readonly kind: 'list' | 'multichoice' }

/**
 * Converts a word by the schema, never by its form: where strings are allowed, a word is a string, so `12` for `string | number`
 * stays "12". Only JSON arrays and objects are recognised wherever the schema allows them.
 */
export function wordValue(field: Field, word: string): ValueRead {
  const structured = structureOf(field, word)
  if (structured !== undefined) return structured
  switch (field.kind) {
    case 'text':
    case 'multiline':
    case 'file':
      return checked(field, word)
    case 'number':
    case 'integer':
      return isNullWord(field, word) ? { value: null } : numberOf(field, word)
    case 'boolean':
      return isNullWord(field, word) ? { value: null } : booleanOf(word)
    case 'choice':
      return (
        choiceOf(field.choices, word) ?? (isNullWord(field, word) ? { value: null } : mismatch(choicesText(field.choices), word))
      )
    case 'multichoice':
    case 'list':
      return toValue(itemsOf(field, word))
    case 'object':
      return isNullWord(field, word) ? { value: null } : jsonValue(field, word)
    case 'union':
      return unionOf(field, word)
    default:
      return allowsText(field) ? { value: word } : jsonValue(field, word)
  }
}

/** Items that words add to a list; each word is one item or a JSON array of items. */
export function listValue(field: ListField, words: readonly string[]): ItemsRead {
  const items: unknown[] = []
  const problems: string[] = []
  for (const word of words) {
    const read = itemsOf(field, word)
    if ('problems' in read) problems.push(...read.problems)
    else items.push(...read.items)
  }
  return problems.length === 0 ? { items } : { problems }
}

export function jsonValue(field: Field, text: string): ValueRead {
  const read = readJson(text)
  if ('problem' in read) return { problems: [`must be JSON: ${safeText(read.problem, { limit: 200 })}`] }
  const problems = schemaProblems(field, read.value)
  return problems.length === 0 ? { value: read.value } : { problems }
}

export function listIn(field: Field): ListField | undefined {
  if (field.kind === 'list' || field.kind === 'multichoice') return field
  if (field.kind !== 'union') return undefined
  return field.branches.map((branch) => listIn(branch.field)).find((list) => list !== undefined)
}

const toValue = (read: ItemsRead): ValueRead => ('items' in read ? { value: read.items } : read)

function itemsOf(field: ListField, word: string): ItemsRead {
  if (field.kind === 'multichoice' || !allowsList(field.item)) {
    const array = word.trimStart().startsWith('[') ? readJson(word) : undefined
    if (array !== undefined && 'value' in array && Array.isArray(array.value)) {
      const problems = schemaProblems({ ...field, constraints: {} }, array.value)
      return problems.length === 0 ? { items: array.value } : { problems }
    }
  }
  const one =
    field.kind === 'list'
      ? wordValue(field.item, word)
      : (choiceOf(field.choices, word) ?? mismatch(choicesText(field.choices), word))
  return 'value' in one ? { items: [one.value] } : one
}

/** A word that is a JSON array or object, for a field of several types. */
function structureOf(field: Field, word: string): ValueRead | undefined {
  if (field.kind !== 'union' && field.kind !== 'json') return undefined
  const isList = /^\s*\[/u.test(word)
  if (!isList && !/^\s*\{/u.test(word)) return undefined
  if (!(isList ? allowsList(field) : allowsObject(field))) return undefined
  const read = readJson(word)
  // Text that only begins like JSON stays text.
  if ('problem' in read) return allowsText(field) ? undefined : jsonValue(field, word)
  const problems = schemaProblems(field, read.value)
  return problems.length === 0 ? { value: read.value } : { problems }
}

function unionOf(field: Field & { kind: 'union' }, word: string): ValueRead {
  const branches = [...leaves(field)]
  const texts = branches.filter(allowsText).map((branch) => wordValue(branch, word))
  const text = texts.find((read) => 'value' in read)
  if (text !== undefined) return text
  if (isNullWord(field, word)) return { value: null }
  for (const kind of narrowFirst) {
    for (const branch of branches) {
      const read = branch.kind === kind ? wordValue(branch, word) : undefined
      if (read !== undefined && 'value' in read) return read
    }
  }
  const labels = new Set(field.branches.map(({ label }) => safeText(label, { limit: 60 })))
  return texts[0] ?? mismatch([...labels].join(' or '), word)
}

function* leaves(field: Field): Generator<Field> {
  if (field.kind === 'union') for (const branch of field.branches) yield* leaves(branch.field)
  else yield field
}

const narrowFirst: readonly Field['kind'][] = ['choice', 'boolean', 'integer', 'number', 'json', 'multichoice', 'list', 'object']

const allows = (field: Field, type: string, kinds: readonly Field['kind'][]): boolean => {
  if (field.kind === 'union') return field.branches.some((branch) => allows(branch.field, type, kinds))
  if (field.kind === 'json') return field.types === undefined || field.types.includes(type)
  return kinds.includes(field.kind)
}

const allowsText = (field: Field): boolean => allows(field, 'string', ['text', 'multiline', 'file'])
const allowsList = (field: Field): boolean => allows(field, 'array', ['list', 'multichoice'])
const allowsObject = (field: Field): boolean => allows(field, 'object', ['object'])

const isNullWord = (field: Field, word: string): boolean => field.nullable && word === 'null'

const numeral = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u

function numberOf(field: Field, word: string): ValueRead {
  const expected = field.kind === 'integer' ? 'an integer' : 'a number'
  if (!numeral.test(word)) return mismatch(expected, word)
  const value = Number(word)
  const isTooLong = field.kind === 'integer' && /^[+-]?\d+$/u.test(word) && !Number.isSafeInteger(value)
  if (isTooLong || !keepsDigits(word)) return { problems: [`cannot be sent: ${precisionProblem(word)}`] }
  if (field.kind === 'integer' && !Number.isInteger(value)) return mismatch(expected, word)
  // JSON has no negative zero.
  return checked(field, value + 0)
}

const switches: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
])

function booleanOf(word: string): ValueRead {
  const value = switches.get(word)
  return value === undefined ? mismatch('true or false', word) : { value }
}

/** Whether a word after a switch is its value. */
export const isSwitchWord = (word: string): boolean => switches.has(word)

function choiceOf(choices: readonly Choice[], word: string): ValueRead | undefined {
  const named = choices.find(({ value }) => value === word) ?? choices.find(({ value }) => choiceText(value) === word)
  if (named !== undefined) return { value: named.value }
  const other = choices.filter(({ value }) => typeof value === 'number' || (typeof value === 'object' && value !== null))
  if (other.length === 0) return undefined
  const read = readJson(word)
  if ('problem' in read) return undefined
  const text = canonicalJson(read.value)
  const equal = other.find(({ value }) => canonicalJson(value) === text)
  return equal === undefined ? undefined : { value: equal.value }
}

function checked(field: Field, value: unknown): ValueRead {
  const problems = constraintProblems(field.constraints, value)
  return problems.length === 0 ? { value } : { problems }
}

const mismatch = (expected: string, word: string): ValueRead => ({ problems: [`must be ${expected}, not ${quotedWord(word)}`] })

const quotedWord = (word: string): string => `"${safeText(word, { limit: 60 })}"`
