import { nearest, nearestHint } from '@unfold-mcp/core'
import { usageError } from '../base/exit.ts'
import { common, type Flag, type Verb, verbs } from './verbs.ts'

/** A command line, taken apart. */
export interface Invocation {
  readonly verb: string
  /** Whether the verb was left out, so that the first word is a server. */
  readonly isImplied: boolean
  /** The positionals that are no flags: a server, a tool, what to search for. */
  readonly positionals: readonly string[]
  /** What follows the tool's name and is no flag of ours: its arguments, as they were typed. */
  readonly rest: readonly string[]
  readonly flags: Flags
  /** The server's command, after `--`. */
  readonly command: readonly string[] | undefined
}

type FlagValue = boolean | string | number | readonly string[]
export type Flags = { readonly [name: string]: FlagValue | undefined }

/** How many positionals come before the tool's arguments: with a server after `--`, or one that is set, the tool comes first. */
const wordsBeforeArguments = (hasServer: boolean): number => (hasServer ? 1 : 2)

/**
 * Takes a command line apart. The verb comes first; a first word that is none is a server whose tool is called. What follows
 * `--` is the server's command. Flags of ours are ours wherever they stand, long or short; what else follows a tool's name is the
 * tool's.
 */
export function parse(
  argv: readonly string[],
  { defaultServer }: { readonly defaultServer?: string | undefined } = {},
): Invocation {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const command = end === -1 ? undefined : argv.slice(end + 1)
  if (command?.length === 0) throw usageError('Nothing follows "--". Write the command of the server there: -- node server.js')
  // Flags that every verb has may stand before it.
  const lead = own.findIndex((token) => !isFlag(token, common))
  const before = own.slice(0, lead === -1 ? own.length : lead)
  const flags: Record<string, FlagValue> = {}
  for (const [at] of before.entries()) take(before, at, common, flags)
  const [first, ...others] = own.slice(before.length)
  const isImplied = first === undefined || !Object.hasOwn(verbs, first)
  const verb = isImplied ? 'call' : first
  const tokens = isImplied ? own.slice(before.length) : others
  const declared = verbs[verb] as Verb
  const known = { ...common, ...declared.flags }
  // Wherever it stands: it decides which word is the tool.
  const isSaid = tokens.some((token) => token === '--server' || token.startsWith('--server='))
  const hasServer = command !== undefined || defaultServer !== undefined || isSaid
  const most =
    declared.callsTool === true ? wordsBeforeArguments(hasServer) : (declared.maxPositionals ?? Number.POSITIVE_INFINITY)
  const positionals: string[] = []
  const rest: string[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] ?? ''
    const isRest = positionals.length >= most
    if (isFlag(token, known) && (!isRest || isOursInRest(token, known, { declared, positionals }))) {
      at += take(tokens, at, known, flags)
      continue
    }
    if (isRest) rest.push(token)
    else positionals.push(token)
    at += 1
  }
  return { verb, isImplied, positionals, rest, flags, command }
}

const isFlag = (token: string, known: { readonly [name: string]: Flag }): boolean =>
  /^-(?:-[^-=]|[a-z]$)/iu.test(token) || (/^-[a-z]+$/iu.test(token) && shortNames(token, known) !== undefined)

/** Whether a flag behind the positionals that are ours is one of ours too. */
function isOursInRest(
  token: string,
  known: { readonly [name: string]: Flag },
  { declared, positionals }: { readonly declared: Verb; readonly positionals: readonly string[] },
): boolean {
  if (token.startsWith('--')) return nameOf(token, known) !== undefined
  // Those of a command that is added are its own (npx -y); an address has none.
  const isCommand = declared.maxPositionals !== undefined && !/^https?:\/\//iu.test(positionals.at(-1) ?? '')
  return !isCommand && shortNames(token, known) !== undefined
}

/** The names of flags without a value that are written as letters: `-q`, `-qy`. */
function shortNames(token: string, flags: { readonly [name: string]: Flag }): readonly string[] | undefined {
  const names = Array.from(
    token.slice(1),
    (letter) => Object.entries(flags).find(([, { short, type }]) => short === letter && type === 'switch')?.[0],
  )
  return names.every((name) => name !== undefined) ? names : undefined
}

function nameOf(token: string, flags: { readonly [name: string]: Flag }): string | undefined {
  const name = token.slice(2).replace(/=.*$/su, '')
  return Object.hasOwn(flags, name) ? name : undefined
}

/** Reads one flag; returns how many tokens it took. */
function take(
  tokens: readonly string[],
  at: number,
  flags: { readonly [name: string]: Flag },
  into: Record<string, FlagValue>,
): number {
  const token = tokens[at] ?? ''
  if (!token.startsWith('--')) {
    for (const name of shortNames(token, flags) ?? unknownFlag(token, flags)) into[name] = true
    return 1
  }
  const name = nameOf(token, flags)
  const flag = name === undefined ? undefined : flags[name]
  if (name === undefined || flag === undefined) return unknownFlag(token, flags)
  const inline = token.includes('=') ? token.slice(token.indexOf('=') + 1) : undefined
  if (flag.type === 'switch') {
    if (inline !== undefined) throw usageError(`--${name} takes no value.`)
    into[name] = true
    return 1
  }
  const value = inline ?? tokens[at + 1]
  if (value === undefined) throw usageError(`--${name} wants a value: --${name} <${flag.value ?? 'value'}>.`)
  into[name] = flagValue(name, flag, value, into[name])
  return inline === undefined ? 2 : 1
}

function flagValue(name: string, { type }: Flag, value: string, before: FlagValue | undefined): FlagValue {
  if (type === 'texts') return [...(Array.isArray(before) ? (before as readonly string[]) : []), value]
  if (type === 'text') return value
  const number = Number(value)
  if (value.trim() === '' || !Number.isFinite(number) || number < 0) throw usageError(`--${name} wants a number, not "${value}".`)
  return number
}

function unknownFlag(token: string, flags: { readonly [name: string]: Flag }): never {
  const name = token.replace(/^-+/u, '').replace(/=.*$/su, '')
  const close = nearest(name, Object.keys(flags)).map((each) => `--${each}`)
  throw usageError(`There is no flag ${token.replace(/=.*$/su, '')}.${nearestHint(close)} See unfold --help.`, { flag: name })
}

export const isSet = (flags: Flags, name: string): boolean => flags[name] === true

export const textOf = (flags: Flags, name: string): string | undefined => {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

export const numberOf = (flags: Flags, name: string): number | undefined => {
  const value = flags[name]
  return typeof value === 'number' ? value : undefined
}

export const textsOf = (flags: Flags, name: string): readonly string[] => {
  const value = flags[name]
  return Array.isArray(value) ? (value as readonly string[]) : []
}
