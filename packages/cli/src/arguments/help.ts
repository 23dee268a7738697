import { facetOf, type Tool } from '@unfold-mcp/core'
import type { Constraints, Field } from '@unfold-mcp/core/form'
import { safeText } from '../text/safe.ts'
import { plain, type Style } from '../text/style.ts'
import { tableLines } from '../text/table.ts'
import { wrapped } from '../text/wrap.ts'
import { toArgv } from './argv.ts'
import { extraOf, type Flag, type FlagTable, flagTableOf, isShownFlag } from './flags.ts'
import { shellQuote } from './quote.ts'
import { exampleArguments } from './sample.ts'
import { choiceText } from './validation.ts'

export interface HelpOptions {
  /** Command before the name of the tool, such as `unfold call github`. */
  readonly command: string
  /** End of the command line, such as `-- node server.js`. */
  readonly after?: string
  readonly width?: number
  readonly style?: Style
  /** Maximum number of parameters to show. */
  readonly limit?: number
}

/** Help for a tool, generated from its schema. Safe for a terminal. */
export function helpText(tool: Tool, { command, after = '', width = 80, style = plain, limit = 100 }: HelpOptions): string {
  const table = flagTableOf(tool)
  const shown = table.flags.filter(isShownFlag)
  const required = shown.filter((flag) => isRequired(flag, table))
  const optional = shown.filter((flag) => !isRequired(flag, table))
  const start = `${safeText(command)} ${shellQuote([tool.name])}`
  const tail = after === '' ? '' : ` ${after}`
  const hasEscape = shown.some(({ text }) => text.startsWith('--arg:'))
  const sections = [
    descriptionLines(tool, width),
    [`${style.bold('Usage:')} ${usage(start, required, optional.length > 0)}${tail}`],
    section('Required:', required, { table, width, style, limit }),
    section('Options:', optional, { table, width, style, limit: Math.max(0, limit - required.length) }),
    examples(tool, start, { tail, style }),
    shown.length === 0 && !table.form.isCut ? [] : wrapped(otherWays + (hasEscape ? escapes : ''), width).map(style.dim),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

const otherWays =
  "Arguments can also be written name=value or name:=json, or as JSON: --args '{…}', --args @file, --args - for standard input."
const escapes = ' Names that conflict with global flags are written --arg:<name>.'

const maxDescriptionLength = 4_000
const destructiveNote = 'Destructive: may modify or delete data.'

function descriptionLines(tool: Tool, width: number): readonly string[] {
  const text = tool.description ?? tool.title ?? tool.annotations?.title ?? ''
  const lines = wrapped(safeText(text, { lines: true, limit: maxDescriptionLength }).trim(), width)
  const description = lines.length === 1 && lines[0] === '' ? [safeText(tool.name)] : lines
  return facetOf(tool) === 'destructive' ? [...description, '', ...wrapped(destructiveNote, width)] : description
}

const maxInUsage = 4

function usage(command: string, required: readonly Flag[], hasOptions: boolean): string {
  const named = required.slice(0, maxInUsage).map((flag) => `${shellQuote([flag.text])} ${placeholder(flag.field)}`)
  const more = required.length > named.length ? ['…'] : []
  return [command, ...named, ...more, ...(hasOptions ? ['[options]'] : [])].join(' ')
}

/** Whether the parameter and all objects around it are required. */
function isRequired({ field }: Flag, table: FlagTable): boolean {
  if (!field.required || field.path.length === 1) return field.required
  const parent = table.at(field.path.slice(0, -1))
  return parent !== undefined && isRequired(parent, table)
}

interface SectionOptions {
  readonly table: FlagTable
  readonly width: number
  readonly style: Style
  readonly limit: number
}

function section(title: string, flags: readonly Flag[], { table, width, style, limit }: SectionOptions): readonly string[] {
  if (flags.length === 0) return []
  const rows = flags.slice(0, limit).map((flag) => [head(flag), describe(flag.field, table)])
  const more = flags.length > rows.length ? [`  … and ${flags.length - rows.length} more`] : []
  return [style.bold(title), ...tableLines(rows, { width, indent: 2, widest: Math.min(32, Math.floor(width / 2) - 2) }), ...more]
}

function head({ text, field, negation }: Flag): string {
  const name = shellQuote([text])
  if (field.kind === 'boolean') return negation === undefined ? name : `--[no-]${text.slice(2)}`
  const extra = extraOf(field)
  if (field.kind === 'object' && extra !== undefined) return `${name}.<name> ${placeholder(extra)}`
  return `${name} ${placeholder(field)}`
}

const maxChoicesLength = 40

function placeholder(field: Field): string {
  switch (field.kind) {
    case 'text':
      return `<${/^[a-z][a-z0-9-]{1,20}$/u.exec(field.constraints.format ?? '')?.[0] ?? 'text'}>`
    case 'multiline':
      return '<text>'
    case 'file':
      return '<base64>'
    case 'number':
    case 'integer':
    case 'boolean':
      return `<${field.kind}>`
    case 'choice':
    case 'multichoice': {
      const choices = field.choices.map(({ value }) => safeText(choiceText(value))).join('|')
      return choices.length > maxChoicesLength ? '<choice>' : `<${choices}>`
    }
    case 'list':
      return placeholder(field.item)
    case 'union':
      return `<${[...new Set(field.branches.map((branch) => placeholder(branch.field).slice(1, -1)))].join('|')}>`
    case 'object':
      return '<json>'
    default:
      return field.types === undefined ? '<any>' : '<json>'
  }
}

const maxNoteLength = 600

function describe(field: Field, table: FlagTable): string {
  const text = safeText(field.description ?? (field.label === field.name ? '' : field.label), { limit: maxNoteLength }).trim()
  const sentence = text === '' || /[.!?…:]$/u.test(text) ? text : `${text}.`
  return [sentence, ...notes(field, table)].filter((note) => note !== '').join(' ')
}

/** Quoted if it could be mistaken for a part of the sentence. */
function defaultText(value: unknown): string {
  const text = safeText(choiceText(value), { limit: 80 })
  return typeof value === 'string' && !/\w$/u.test(text) ? `"${text}"` : text
}

function notes(field: Field, table: FlagTable): readonly string[] {
  const limits = limitsOf(field.constraints)
  const parent = table.at(field.path.slice(0, -1))
  return [
    ...choiceNotes(field),
    ...(limits === '' ? [] : [`${limits}.`]),
    ...(field.kind === 'list' || field.kind === 'multichoice' ? ['Repeatable.'] : []),
    ...(field.kind === 'list' ? itemNotes(field.item) : []),
    ...(field.kind === 'list' && field.item.kind === 'choice' ? choiceNotes(field.item) : []),
    ...(field.nullable && field.kind !== 'choice' ? ['Nullable.'] : []),
    ...(field.default === undefined ? [] : [`Default: ${defaultText(field.default)}.`]),
    ...(field.required && parent !== undefined && !isRequired(parent, table) ? [`Required with ${parent.text}.`] : []),
    ...(field.secret ? ['Secret: use --args - to keep it out of the process list.'] : []),
  ]
}

function itemNotes({ constraints }: Field): readonly string[] {
  const limits = limitsOf(constraints)
  return limits === '' ? [] : [`Each ${limits.charAt(0).toLowerCase()}${limits.slice(1)}.`]
}

const maxChoices = 12

/** Choices that the placeholder does not show. */
function choiceNotes(field: Field): readonly string[] {
  if (field.kind !== 'choice' && field.kind !== 'multichoice') return []
  const isNamed = placeholder(field) !== '<choice>'
  const texts = field.choices.slice(0, maxChoices).map(({ value, label }) => {
    const text = safeText(choiceText(value), { limit: 60 })
    return label === choiceText(value) ? text : `${text} (${safeText(label, { limit: 60 })})`
  })
  if (isNamed && texts.every((text, index) => text === safeText(choiceText(field.choices[index]?.value)))) return []
  const more = field.choices.length > texts.length ? ` and ${field.choices.length - texts.length} more` : ''
  return [`One of ${texts.join(', ')}${more}.`]
}

function limitsOf(limits: Constraints): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, pattern } = limits
  const parts = [
    range(minimum, maximum, ''),
    exclusiveMinimum === undefined ? '' : `greater than ${exclusiveMinimum}`,
    exclusiveMaximum === undefined ? '' : `less than ${exclusiveMaximum}`,
    multipleOf === undefined ? '' : `a multiple of ${multipleOf}`,
    range(limits.minLength, limits.maxLength, ' characters'),
    range(limits.minItems, limits.maxItems, ' values'),
    limits.uniqueItems === true ? 'unique' : '',
    pattern === undefined ? '' : `matching ${safeText(pattern, { limit: 60 })}`,
  ].filter((part) => part !== '')
  const text = parts.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  const unitOf = (count: number): string => (count === 1 ? unit.replace(/s$/u, '') : unit)
  if (min !== undefined && max !== undefined)
    return min === max ? `exactly ${min}${unitOf(min)}` : `${min} to ${max}${unitOf(max)}`
  if (min !== undefined) return min === 0 && unit !== '' ? '' : `at least ${min}${unitOf(min)}`
  return max === undefined ? '' : `at most ${max}${unitOf(max)}`
}

const maxExampleLength = 500

function examples(
  tool: Tool,
  command: string,
  { tail, style }: { readonly tail: string; readonly style: Style },
): readonly string[] {
  const lines = exampleArguments(tool).map(
    (args) => `${[command, shellQuote(toArgv(tool, args))].filter((part) => part !== '').join(' ')}${tail}`,
  )
  const short = [...new Set(lines)].filter((line) => line.length <= maxExampleLength)
  return short.length === 0
    ? []
    : [style.bold(short.length === 1 ? 'Example:' : 'Examples:'), ...short.map((line) => `  ${line}`)]
}
