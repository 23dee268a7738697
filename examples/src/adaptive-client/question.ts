import { type Field, printable } from '@unfold-mcp/core'
import type { Terminal } from './terminal.ts'

/** Answer of the user: a value, nothing for an optional field, or that they left. */
type Answer = { readonly value: unknown } | 'nothing' | 'left'

/** Asks for the value of each field and returns them as an object; `undefined` if the user left. */
export async function askFor(fields: readonly Field[], terminal: Terminal): Promise<Record<string, unknown> | undefined> {
  const entries: [string, unknown][] = []
  for (const field of fields) {
    const answer = await askField(field, terminal)
    if (answer === 'left') return undefined
    if (answer !== 'nothing') entries.push([field.name, answer.value])
  }
  return Object.fromEntries(entries)
}

async function askField(field: Field, terminal: Terminal): Promise<Answer> {
  if (field.kind === 'object' && field.fields.length > 0) return askObject(field.fields, field, terminal)
  if (field.kind === 'list') return askList(field.item, field, terminal)
  if (field.kind === 'union') return askUnion(field, terminal)
  for (;;) {
    const line = await terminal.ask(`  ${questionFor(field)}: `)
    if (line === undefined) return 'left'
    if (line.trim() === '' && !field.required) return 'nothing'
    const read = valueFrom(field, line)
    if (typeof read === 'object') return read
    terminal.say(`  ${read}`)
  }
}

async function askObject(fields: readonly Field[], field: Field, terminal: Terminal): Promise<Answer> {
  if (!field.required) {
    const line = await terminal.ask(`  Give ${label(field)}? (y/N) `)
    if (line === undefined) return 'left'
    if (!/^y/iu.test(line.trim())) return 'nothing'
  }
  const value = await askFor(fields, terminal)
  return value === undefined ? 'left' : { value }
}

async function askList(item: Field, field: Field, terminal: Terminal): Promise<Answer> {
  const value: unknown[] = []
  for (;;) {
    const each: Field = { ...item, required: false, label: `${field.label} ${value.length + 1} (nothing to end)` }
    const answer = await askField(each, terminal)
    if (answer === 'left') return 'left'
    if (answer !== 'nothing') value.push(answer.value)
    else return value.length > 0 || field.required ? { value } : 'nothing'
  }
}

async function askUnion(field: Field & { readonly kind: 'union' }, terminal: Terminal): Promise<Answer> {
  const kinds = field.branches.map((branch, index) => `${index + 1} ${printable(branch.label)}`).join(', ')
  for (;;) {
    const line = await terminal.ask(`  ${label(field)}, which kind (${kinds}): `)
    if (line === undefined) return 'left'
    if (line.trim() === '' && !field.required) return 'nothing'
    const branch = field.branches[Number(line) - 1]
    if (branch !== undefined) return askField({ ...branch.field, label: field.label, required: true }, terminal)
    terminal.say('  Give the number of one of them.')
  }
}

const label = (field: Field): string => printable(field.label === '' ? field.name : field.label)

/** Returns the question: name, type and default of the field. */
function questionFor(field: Field): string {
  const kind = 'choices' in field ? field.choices.map((choice) => printable(choice.label, 40)).join(' | ') : words[field.kind]
  const about = field.description === undefined ? '' : `, ${printable(field.description)}`
  const otherwise =
    'default' in field ? `; ${printable(JSON.stringify(field.default))} if nothing` : field.required ? '' : '; may be left out'
  return `${label(field)} (${kind}${about}${otherwise})`
}

const words: { readonly [K in Field['kind']]: string } = {
  text: 'text',
  multiline: 'text',
  file: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
  choice: '',
  multichoice: '',
  list: 'list',
  object: 'JSON',
  union: 'JSON',
  json: 'JSON',
}

/** Parses a line as a value, or returns the problem. The server checks the rest. */
function valueFrom(field: Field, line: string): { readonly value: unknown } | string {
  const text = line.trim()
  switch (field.kind) {
    case 'text':
    case 'multiline':
    case 'file':
      return { value: line }
    case 'number':
    case 'integer':
      if (text === '' || !Number.isFinite(Number(text))) return 'That is no number.'
      return field.kind === 'integer' && !Number.isInteger(Number(text)) ? 'That is no whole number.' : { value: Number(text) }
    case 'boolean':
      return /^(?:y|yes|true)$/iu.test(text)
        ? { value: true }
        : /^(?:n|no|false)$/iu.test(text)
          ? { value: false }
          : 'Say yes or no.'
    case 'choice':
      return chosen(field.choices, text) ?? 'That is none of them.'
    case 'multichoice': {
      const found = text.split(',').map((part) => chosen(field.choices, part.trim()))
      return found.every((each) => each !== undefined)
        ? { value: found.map((each) => each.value) }
        : 'One of these is none of them.'
    }
    default:
      return parsed(text)
  }
}

function chosen(choices: readonly { readonly value: unknown; readonly label: string }[], text: string) {
  const found = choices.find((choice) => choice.label === text || String(choice.value) === text)
  return found === undefined ? undefined : { value: found.value }
}

function parsed(text: string): { readonly value: unknown } | string {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return 'That is no JSON.'
  }
}
