import type { Tool } from '@unfold-mcp/core'
import { type Field, type Form, fieldsIn, formOf } from '@unfold-mcp/core/form'
import { looseNameOf, nameOf, stepOf } from './name.ts'

/** Flag of one tool parameter. */
export interface Flag {
  /** Spelling: `--title`, `--user.name`, or `--arg:json` when `--json` is our own flag or the name needs quoting. */
  readonly text: string
  /** Name in `name=value` and after `--arg:`. */
  readonly name: string
  readonly field: Field
  /** `--no-draft`, for parameters that can be false. */
  readonly negation?: string
}

/** Parameter that a name on the command line refers to. */
export interface Parameter {
  readonly path: readonly string[]
  readonly field: Field
  /** Name in messages. */
  readonly text: string
}

/** Our own flags of a call. A tool parameter with such a name is written `--arg:<name>` or `<name>=value`. */
export const reservedNames: ReadonlySet<string> = new Set([
  'allow-env',
  'answer',
  'args',
  'color',
  'config',
  'debug',
  'env',
  'header',
  'help',
  'json',
  'jsonl',
  'max-time',
  'no-cache',
  'no-color',
  'no-input',
  'output',
  'protocol',
  'quiet',
  'raw',
  'server',
  'timeout',
  'version',
  'yes',
])

const tables = new WeakMap<Tool, FlagTable>()

/** Flags of a tool in schema order; nested properties follow their object. */
export function flagsOf(tool: Tool): readonly Flag[] {
  return flagTableOf(tool).flags
}

/** Flag table of a tool, cached per tool. */
export function flagTableOf(tool: Tool): FlagTable {
  const cached = tables.get(tool)
  if (cached !== undefined) return cached
  const table = new FlagTable(tool)
  tables.set(tool, table)
  return table
}

export class FlagTable {
  readonly form: Form
  readonly flags: readonly Flag[]
  readonly #byName = new Map<string, Flag>()
  readonly #byPath = new Map<string, Flag>()
  #byAlias: Map<string, Flag | undefined> | undefined

  constructor(tool: Tool) {
    this.form = formOf(tool.inputSchema)
    const fields = [...everyField(this.form.fields)]
    const names = namesFor(fields)
    const taken = new Set(names.values())
    this.flags = fields.map((field) => flagFor(field, names.get(field) ?? '', taken))
    for (const flag of this.flags) {
      this.#byName.set(flag.name, flag)
      this.#byPath.set(JSON.stringify(flag.field.path), flag)
    }
  }

  at(path: readonly string[]): Flag | undefined {
    return this.#byPath.get(JSON.stringify(path))
  }

  /** Whether the schema lists a parameter of this name. */
  isParameter(name: string): boolean {
    return this.#flag(name) !== undefined
  }

  /**
   * Finds a parameter by name, then by name with `-` and `_` interchanged, then as a new property of an object that allows any.
   * `isExplicit`: written `name=value` or `--arg:name`, which may also name an unlisted property.
   */
  find(name: string, isExplicit: boolean): Parameter | undefined {
    const flag = this.#flag(name)
    if (flag !== undefined) return { path: flag.field.path, field: flag.field, text: flag.text }
    for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
      const parent = this.#flag(name.slice(0, dot))
      const extra = parent === undefined ? undefined : extraOf(parent.field)
      if (parent === undefined || extra === undefined) continue
      return { path: [...parent.field.path, stepOf(name.slice(dot + 1))], field: extra, text: `--${name}` }
    }
    const extra = isExplicit && takesOthers(this.form.root) ? extraOf(this.form.root) : undefined
    return extra === undefined ? undefined : { path: [stepOf(name)], field: extra, text: `--arg:${name}` }
  }

  #flag(name: string): Flag | undefined {
    return this.#byName.get(name) ?? this.#aliases().get(alias(name))
  }

  #aliases(): ReadonlyMap<string, Flag | undefined> {
    if (this.#byAlias !== undefined) return this.#byAlias
    this.#byAlias = new Map()
    for (const flag of this.flags) {
      const short = alias(flag.name)
      // Ambiguous aliases are dropped.
      this.#byAlias.set(short, this.#byAlias.has(short) ? undefined : flag)
    }
    return this.#byAlias
  }
}

/** Whether it accepts `--x` without a value and `--no-x`. */
export function takesSwitch(field: Field): boolean {
  if (field.kind === 'boolean') return true
  return field.kind === 'union' && field.branches.some((branch) => branch.field.kind === 'boolean')
}

/** Objects are shown by their properties, and themselves only if they accept others. */
export const isShownFlag = ({ field }: Flag): boolean => fieldsIn(field).length === 0 || extraOf(field) !== undefined

/** Schema of unlisted properties, if the object or a union branch allows them. */
export function extraOf(field: Field): Field | undefined {
  if (field.kind === 'object') return field.extra
  if (field.kind !== 'union') return undefined
  return field.branches.map((branch) => extraOf(branch.field)).find((extra) => extra !== undefined)
}

// A schema without `additionalProperties` does not expect others, although JSON Schema would allow them.
const takesOthers = ({ schema }: Field): boolean =>
  schema.additionalProperties !== undefined || schema.patternProperties !== undefined

const alias = (name: string): string => name.replaceAll('-', '_')

function* everyField(fields: readonly Field[]): Generator<Field> {
  for (const field of fields) {
    yield field
    yield* everyField(fieldsIn(field))
  }
}

/** Unique names. Plain paths come first, so that `user.name` is property `name` of `user`. */
function namesFor(fields: readonly Field[]): ReadonlyMap<Field, string> {
  const names = new Map<Field, string>()
  const taken = new Set<string>()
  const odd: Field[] = []
  for (const field of fields) {
    const name = nameOf(field.path)
    if (name !== looseNameOf(field.path)) odd.push(field)
    else {
      names.set(field, name)
      taken.add(name)
    }
  }
  for (const field of odd) {
    const loose = looseNameOf(field.path)
    const name = loose === undefined || taken.has(loose) ? nameOf(field.path) : loose
    names.set(field, name)
    taken.add(name)
  }
  return names
}

function flagFor(field: Field, name: string, taken: ReadonlySet<string>): Flag {
  const isPlain = /^[^\s"-][^\s"]*$/u.test(name) && !reservedNames.has(name)
  if (!isPlain) return { text: `--arg:${name}`, name, field }
  const negated = `no-${name}`
  const canNegate = takesSwitch(field) && !taken.has(negated) && !reservedNames.has(negated)
  return { text: `--${name}`, name, field, ...(canNegate ? { negation: `--${negated}` } : {}) }
}
