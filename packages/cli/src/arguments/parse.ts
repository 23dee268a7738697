import type { Tool } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'
import type { Field } from '@unfold-mcp/core/form'
import { safeText } from '../text/safe.ts'
import { type FlagTable, flagTableOf, type Parameter } from './flags.ts'
import type { ArgumentProblem } from './problem.ts'
import { setPropertyAt } from './property.ts'
import { type ArgumentSources, type JsonArguments, readJsonSources } from './sources.ts'
import { type Assignment, readTokens, type Tokens } from './tokens.ts'
import { jsonValue, listIn, listValue, type ValueRead, wordValue } from './value.ts'

export type { ArgumentSources } from './sources.ts'

export interface ParsedArguments {
  /** Arguments read so far; complete if there are no problems. */
  readonly args: { readonly [name: string]: unknown }
  readonly problems: readonly ArgumentProblem[]
  /** Required parameters without a value, to prompt for. */
  readonly missing: readonly Field[]
}

/**
 * Parses the arguments of a tool: `--flag value`, `--flag=value`, `--switch`, `--no-switch`, `name=value`, `name:=json` (also
 * `--flag:=json`), and `--args '{…}'`, `--args @file`, `--args -` or a lone `-` for all arguments as JSON. Later values replace
 * earlier ones, single parameters replace `--args`, and repeated flags extend lists. Defaults are left to the server.
 */
export async function parseToolArguments(
  tool: Tool,
  argv: readonly string[],
  sources: ArgumentSources,
): Promise<ParsedArguments> {
  const tokens = readTokens(flagTableOf(tool), argv)
  const values = (sources.values ?? []).map((text) => ({ text }))
  const base = await readJsonSources([...values, ...tokens.jsonSources], sources)
  return assemble(tool, base, tokens)
}

function assemble(
  tool: Tool,
  { args, problems: unread }: JsonArguments,
  { assignments, problems: unclear, failed: named }: Tokens,
): ParsedArguments {
  const problems = [...unread, ...unclear]
  const lists = new Map<string, ListState>()
  const failed = [...named]
  for (const setting of assignments) {
    const { parameter, position } = setting
    const read = settingValue(setting, lists)
    if ('value' in read) setPropertyAt(args, parameter.path, read.value)
    else {
      failed.push(parameter.path)
      for (const problem of read.problems) problems.push(valueProblem(parameter, position, problem))
    }
  }
  const table = flagTableOf(tool)
  // An unreadable source may contain the missing parameters.
  const isUnknown = problems.some(({ kind }) => kind === 'source')
  const absent = isUnknown ? [] : missingIn(table.form.fields, args)
  const missing = absent.filter(({ path }) => !failed.some((other) => isWithin(path, other) || isWithin(other, path)))
  problems.sort((a, b) => (a.position ?? -1) - (b.position ?? -1))
  return { args, problems: [...problems, ...missing.map((field) => missingProblem(table, field))], missing }
}

const isWithin = (path: readonly string[], around: readonly string[]): boolean =>
  around.every((step, index) => path[index] === step)

/** Values of a list flag so far: its items, or a first word that may still become a list. */
type ListState = { readonly items: readonly unknown[] } | { readonly word: string }

function settingValue({ parameter, given }: Assignment, lists: Map<string, ListState>): ValueRead {
  const { field } = parameter
  const key = JSON.stringify(parameter.path)
  if ('value' in given) return given
  if ('json' in given) {
    const read = jsonValue(field, given.json)
    if ('value' in read && Array.isArray(read.value)) lists.set(key, { items: read.value })
    return read
  }
  const list = listIn(field)
  if (list === undefined) return wordValue(field, given.word)
  const before = lists.get(key)
  if (before === undefined && field.kind === 'union') {
    lists.set(key, { word: given.word })
    return wordValue(field, given.word)
  }
  const items = before !== undefined && 'items' in before ? before.items : []
  const read = listValue(list, [...(before !== undefined && 'word' in before ? [before.word] : []), given.word])
  if (!('items' in read)) return read
  const value = [...items, ...read.items]
  lists.set(key, { items: value })
  return { value }
}

const valueProblem = ({ text }: Parameter, position: number, problem: string): ArgumentProblem => ({
  kind: 'value',
  message: `${text} ${problem}.`,
  position,
  flag: text,
  nearest: [],
})

function missingProblem(table: FlagTable, field: Field): ArgumentProblem {
  const flag = table.at(field.path)?.text ?? field.name
  const about = field.description === undefined ? '' : ` ${safeText(field.description, { limit: 120 })}`
  return { kind: 'missing', message: `${flag} is required.${about}`, flag, nearest: [] }
}

/** Missing required fields; inside an object only if the object is present. */
function missingIn(fields: readonly Field[], value: { readonly [name: string]: unknown }): readonly Field[] {
  return fields.flatMap((field) => {
    if (!Object.hasOwn(value, field.name)) return field.required ? [field] : []
    const inner = value[field.name]
    return field.kind === 'object' && isRecord(inner) ? missingIn(field.fields, inner) : []
  })
}
