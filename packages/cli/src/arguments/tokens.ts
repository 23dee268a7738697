import { nearest } from '@unfold-mcp/core'
import { safeText } from '../text/safe.ts'
import { type FlagTable, type Parameter, takesSwitch } from './flags.ts'
import { type NamedWord, namedWord } from './name.ts'
import type { ArgumentProblem } from './problem.ts'
import { isSwitchWord } from './value.ts'

/** Value assigned to one parameter. */
export interface Assignment {
  readonly parameter: Parameter
  readonly position: number
  readonly given: { readonly word: string } | { readonly json: string } | { readonly value: boolean }
}

/** All arguments at once: JSON, `@file`, or `-`. */
export interface JsonSource {
  readonly text: string
  readonly position?: number
}

/** Parsed words after the name of a tool. `failed` lists parameters without a value. */
export interface Tokens {
  readonly assignments: readonly Assignment[]
  readonly jsonSources: readonly JsonSource[]
  readonly problems: readonly ArgumentProblem[]
  readonly failed: readonly (readonly string[])[]
}

export function readTokens(table: FlagTable, argv: readonly string[]): Tokens {
  return new TokenReader(table, argv).read()
}

class TokenReader {
  readonly #table: FlagTable
  readonly #argv: readonly string[]
  readonly #assignments: Assignment[] = []
  readonly #jsonSources: JsonSource[] = []
  readonly #problems: ArgumentProblem[] = []
  readonly #failed: (readonly string[])[] = []

  constructor(table: FlagTable, argv: readonly string[]) {
    this.#table = table
    this.#argv = argv
  }

  read(): Tokens {
    for (let position = 0; position < this.#argv.length; position++) {
      const word = this.#argv[position] ?? ''
      if (word === '-') this.#jsonSources.push({ text: word, position })
      else if (word.startsWith('--') && word.length > 2) position += this.#flag(word, position)
      else if (word.startsWith('-')) this.#unknown(position, word.replace(/^-+/u, ''), word)
      else this.#named(word, position)
    }
    return { assignments: this.#assignments, jsonSources: this.#jsonSources, problems: this.#problems, failed: this.#failed }
  }

  /** Returns the number of following words that were consumed. */
  #flag(word: string, position: number): number {
    const next = this.#argv[position + 1]
    const { isExplicit, name, separator, value } = flagWord(word)
    if (name === 'args' && !isExplicit && separator !== ':=') return this.#whole(separator === '=' ? value : undefined, position)
    if (!isExplicit && separator === '' && this.#negated(name, position)) return 0
    const parameter = this.#table.find(name, isExplicit)
    if (parameter === undefined) {
      this.#unknown(position, name, word)
      return separator === '' && next !== undefined && isValueWord(next) && namedWord(next).separator === '' ? 1 : 0
    }
    if (separator !== '') return this.#set(parameter, position, separator === '=' ? { word: value } : { json: value })
    const { kind, nullable } = parameter.field
    const isSwitch = kind === 'boolean'
    if (next !== undefined && (isSwitch ? isSwitchWord(next) || (nullable && next === 'null') : isValueWord(next))) {
      this.#set(parameter, position, { word: next })
      return 1
    }
    if (takesSwitch(parameter.field)) return this.#set(parameter, position, { value: true })
    this.#failed.push(parameter.path)
    this.#problems.push({
      kind: 'syntax',
      message: missingValue(parameter.text, next),
      position,
      flag: parameter.text,
      nearest: [],
    })
    return 0
  }

  #whole(inline: string | undefined, position: number): number {
    const text = inline ?? this.#argv[position + 1]
    if (text === undefined) this.#fail(position, '--args requires JSON, @file or -.')
    else this.#jsonSources.push({ text, position })
    return inline === undefined ? 1 : 0
  }

  #negated(name: string, position: number): boolean {
    if (!name.startsWith('no-') || this.#table.isParameter(name)) return false
    const parameter = this.#table.find(name.slice('no-'.length), false)
    if (parameter === undefined || !takesSwitch(parameter.field)) return false
    this.#set(parameter, position, { value: false })
    return true
  }

  #named(word: string, position: number): void {
    const { name, separator, value } = namedWord(word)
    const parameter = separator === '' ? undefined : this.#table.find(name, true)
    if (parameter !== undefined) this.#set(parameter, position, separator === '=' ? { word: value } : { json: value })
    else if (separator === '') this.#fail(position, stray(this.#table, word), nearestFlags(this.#table, name))
    else this.#unknown(position, name, name)
  }

  #set(parameter: Parameter, position: number, given: Assignment['given']): 0 {
    this.#assignments.push({ parameter, position, given })
    return 0
  }

  #unknown(position: number, name: string, word: string): void {
    const near = nearestFlags(this.#table, name)
    const hint = near.length === 0 ? available(this.#table) : `Nearest: ${near.join(', ')}.`
    const message = `Unknown argument ${quoted(namedWord(word).name)}. ${hint}`
    this.#problems.push({ kind: 'unknown', message, position, nearest: near })
  }

  #fail(position: number, message: string, near: readonly string[] = []): void {
    this.#problems.push({ kind: 'syntax', message, position, nearest: near })
  }
}

// Values that begin with two dashes require `=`.
const isValueWord = (word: string): boolean => !word.startsWith('--')

function flagWord(word: string): NamedWord & { readonly isExplicit: boolean } {
  const isExplicit = word.startsWith('--arg:') && !word.startsWith('--arg:=')
  return { ...namedWord(word.slice(isExplicit ? '--arg:'.length : 2)), isExplicit }
}

function stray(table: FlagTable, word: string): string {
  const some = table.flags[0]
  const hint = some === undefined ? available(table) : `Use name=value or --name value, such as ${some.text} ….`
  return `Unexpected argument ${quoted(word)}. ${hint}`
}

const maxNamed = 12

function available({ flags }: FlagTable): string {
  if (flags.length === 0) return 'The tool takes no arguments.'
  const named = flags.slice(0, maxNamed).map(({ text }) => text)
  return `Available: ${named.join(', ')}${flags.length > named.length ? ` and ${flags.length - named.length} more` : ''}.`
}

function nearestFlags(table: FlagTable, name: string): readonly string[] {
  const texts = new Map(table.flags.map((flag) => [flag.name, flag.text]))
  return nearest(name, texts.keys()).map((each) => texts.get(each) ?? each)
}

function missingValue(flag: string, next: string | undefined): string {
  if (next === undefined) return `${flag} requires a value.`
  return `${flag} requires a value. If ${quoted(next)} is the value, use ${flag}=${quoted(next)}.`
}

export const quoted = (word: string): string => (word === '' ? '""' : safeText(word, { limit: 60 }))
