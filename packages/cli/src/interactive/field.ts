import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { autocomplete, autocompleteMultiselect, confirm, log, password, select, text } from '@clack/prompts'
import { isRecord } from '@unfold-mcp/core'
import type { Choice, Field } from '@unfold-mcp/core/form'
import { setProperty } from '../arguments/property.ts'
import { choiceText } from '../arguments/validation.ts'
import { wordValue } from '../arguments/value.ts'
import { errorMessage } from '../base/error-message.ts'
import type { Io } from '../base/io.ts'
import { safeText } from '../text/safe.ts'
import { promptTerminal, requireAnswer } from './terminal.ts'

/** Returns a problem with a value, or undefined. */
export type Check = (field: Field, value: unknown) => string | undefined

export interface Asking {
  readonly io: Io
  readonly signal: AbortSignal
  readonly check: Check
}

// Above this number, choices are searched by typing.
const fewChoices = 8
const listLimit = 1_000

/** Prompts for a valid value of one field. */
export function askField(field: Field, asking: Asking): Promise<unknown> {
  switch (field.kind) {
    case 'boolean':
      return askSwitch(field, asking)
    case 'choice':
      return askChoice(field, field.choices, asking)
    case 'multichoice':
      return askChoices(field, field.choices, asking)
    case 'list':
      return askItems(field, field.item, asking)
    case 'object':
      return field.fields.length === 0 ? askWord(field, asking) : askObject(field, asking)
    case 'union':
      return askUnion(field, asking)
    case 'file':
      return askFile(field, asking)
    default:
      return askWord(field, asking)
  }
}

const maxDescriptionLength = 300

function questionFor({ label, name, description, kind }: Field, more = ''): string {
  const head = safeText(label === '' ? name || 'Value' : label, { limit: 200 })
  const about = description === undefined ? '' : ` – ${safeText(description, { limit: maxDescriptionLength })}`
  const how = kind === 'json' || kind === 'object' ? ' (as JSON)' : ''
  return `${head}${how}${more}${about}`
}

async function askSwitch(field: Field, { io, signal }: Asking): Promise<unknown> {
  return requireAnswer(
    await confirm({ message: questionFor(field), initialValue: field.default === true, ...promptTerminal(io, signal) }),
  )
}

async function askChoice(field: Field, choices: readonly Choice[], { io, signal }: Asking): Promise<unknown> {
  const options = optionsOf(choices)
  const initial = options.find(({ value }) => value.choice.value === field.default)?.value
  const question = {
    message: questionFor(field),
    options,
    ...(initial !== undefined && { initialValue: initial }),
    ...promptTerminal(io, signal),
  }
  if (choices.length <= fewChoices) return requireAnswer(await select(question)).choice.value
  const chosen = await autocomplete({
    ...question,
    maxItems: fewChoices,
    validate: (value) => (value === undefined ? 'Choose an option.' : undefined),
  })
  return requireAnswer(chosen).choice.value
}

async function askChoices(field: Field, choices: readonly Choice[], { io, signal, check }: Asking): Promise<unknown> {
  const valuesOf = (chosen: readonly { readonly choice: Choice }[]): readonly unknown[] =>
    chosen.map(({ choice }) => choice.value)
  const chosen = await autocompleteMultiselect({
    message: questionFor(field),
    options: optionsOf(choices),
    required: (field.constraints.minItems ?? 0) > 0,
    maxItems: fewChoices,
    validate: (value) => check(field, valuesOf(Array.isArray(value) ? value : [])),
    ...promptTerminal(io, signal),
  })
  return valuesOf(requireAnswer(chosen))
}

const optionsOf = (choices: readonly Choice[]) =>
  choices.map((choice) => ({
    value: { choice },
    label: safeText(choice.label, { limit: 100 }),
    ...(choice.description !== undefined && { hint: safeText(choice.description, { limit: 100 }) }),
  }))

async function askItems(list: Field, item: Field, asking: Asking): Promise<unknown> {
  const { name, label, description, constraints } = list
  const named = { ...item, name, label, ...(description !== undefined && { description }) }
  // Items are validated with the list as a whole.
  const alone = { ...asking, check: () => undefined }
  const { minItems = 0, maxItems = listLimit } = constraints
  for (;;) {
    const items: unknown[] = []
    while (items.length < Math.min(maxItems, listLimit)) {
      const given = await askItem(named, items.length, items.length >= minItems, alone)
      if (given === undefined) break
      items.push(given)
    }
    const problem = asking.check(list, items)
    if (problem === undefined) return items
    log.warn(`${problem} Try again.`, promptTerminal(asking.io, asking.signal))
  }
}

/** The next list item; undefined at the end. */
async function askItem(item: Field, count: number, isEnough: boolean, asking: Asking): Promise<unknown> {
  const more = ` · ${count + 1}${isEnough ? ', empty to finish' : ''}`
  if (isTyped(item)) return typed(item, questionFor(item, more), asking, isEnough)
  const { io, signal } = asking
  const message = `${questionFor(item, ` · ${count + 1}`)}. ${count === 0 ? 'Add an item?' : 'Add another?'}`
  const wants = !isEnough || requireAnswer(await confirm({ message, initialValue: false, ...promptTerminal(io, signal) }))
  return wants ? askField(item, asking) : undefined
}

const isTyped = ({ kind }: Field): boolean => kind === 'text' || kind === 'multiline' || kind === 'number' || kind === 'integer'

async function askObject(field: Field & { readonly kind: 'object' }, asking: Asking): Promise<unknown> {
  const value = {}
  const required = field.fields.filter((inner) => inner.required)
  for (const inner of required.length > 0 ? required : field.fields) {
    const named = { ...inner, label: `${field.label}.${inner.label}` }
    if (inner.required) setProperty(value, inner.name, await askField(named, asking))
    else {
      const given = await askOptional(named, asking)
      if (given !== undefined) setProperty(value, inner.name, given)
    }
  }
  return value
}

/** Undefined when skipped. */
async function askOptional(field: Field, asking: Asking): Promise<unknown> {
  if (isTyped(field)) return typed(field, questionFor(field, ' (optional)'), asking, true)
  const { io, signal } = asking
  const wants = await confirm({
    message: `${questionFor(field)}. Set a value?`,
    initialValue: false,
    ...promptTerminal(io, signal),
  })
  return requireAnswer(wants) ? askField(field, asking) : undefined
}

async function askUnion(field: Field & { readonly kind: 'union' }, asking: Asking): Promise<unknown> {
  const { io, signal } = asking
  const branches = field.branches.map((branch) => ({ value: { branch }, label: safeText(branch.label, { limit: 100 }) }))
  const chosen = requireAnswer(
    await select({ message: questionFor(field), options: branches, maxItems: fewChoices, ...promptTerminal(io, signal) }),
  )
  const { name, path, label, required } = field
  return askField({ ...chosen.branch.field, name, path, label, required }, asking)
}

async function askFile(field: Field, { io, signal, check }: Asking): Promise<unknown> {
  const bytesAt = async (path: string): Promise<string> => (await readFile(resolve(io.cwd, path))).toString('base64')
  const path = await text({
    message: questionFor(field, ' (file path)'),
    validate: async (given = '') => {
      try {
        return check(field, await bytesAt(given))
      } catch (error) {
        return errorMessage(error)
      }
    },
    ...promptTerminal(io, signal),
  })
  return bytesAt(requireAnswer(path))
}

async function askWord(field: Field, asking: Asking): Promise<unknown> {
  return typed(field, questionFor(field), asking, false)
}

/** Undefined when an optional value is left empty. */
async function typed(field: Field, message: string, { io, signal, check }: Asking, isOptional: boolean): Promise<unknown> {
  const fallback = isOptional || field.default === undefined || isRecord(field.default) ? undefined : choiceText(field.default)
  const wordOf = (given: string | undefined): string => (given === undefined || given === '' ? (fallback ?? '') : given)
  const validate = (given: string | undefined): string | undefined => {
    const word = wordOf(given)
    if (word === '' && isOptional) return undefined
    if (word === '' && field.kind !== 'text' && field.kind !== 'multiline') return 'Required.'
    const read = wordValue(field, word)
    if ('problems' in read) return `Value ${read.problems.join('; ')}.`
    return check(field, read.value)
  }
  const question = { message, validate, ...promptTerminal(io, signal) }
  const shown = fallback === undefined ? {} : { placeholder: safeText(fallback, { limit: 60 }) }
  const given = requireAnswer(field.secret ? await password(question) : await text({ ...question, ...shown }))
  const word = wordOf(given)
  if (word === '' && isOptional) return undefined
  const read = wordValue(field, word)
  return 'value' in read ? read.value : undefined
}
