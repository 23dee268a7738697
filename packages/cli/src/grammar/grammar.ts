import { nearest, nearestHint } from '@unfold-mcp/core'
import { usageError } from '../base/exit.ts'
import { common, type Flag, type Verb, verbs } from './verbs.ts'

/** A parsed command line. */
export interface Invocation {
  readonly verb: string
  /** Whether the verb was omitted, so that the first argument is a server. */
  readonly isImplied: boolean
  /** Positional arguments: a server, a tool, search words. */
  readonly positionals: readonly string[]
  /** Arguments of the tool, unparsed. */
  readonly rest: readonly string[]
  readonly flags: Flags
  /** Command of the server, after `--`. */
  readonly command: readonly string[] | undefined
}

type FlagValue = boolean | string | number | readonly string[]
export type Flags = { readonly [name: string]: FlagValue | undefined }

type FlagSpecs = { readonly [name: string]: Flag }

/**
 * Parses a command line. If the first argument is not a verb, it is a server whose tool is called. `--` starts the command of the
 * server. Our own flags are recognised in any position; everything else after the name of a tool belongs to the tool.
 */
export function parse(
  argv: readonly string[],
  { defaultServer }: { readonly defaultServer?: string | undefined } = {},
): Invocation {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const command = end === -1 ? undefined : argv.slice(end + 1)
  if (command?.length === 0) throw usageError('Missing server command after "--", such as: -- node server.js')
  // Common flags may precede the verb.
  const lead = own.findIndex((token) => !isFlag(token, common))
  const before = own.slice(0, lead === -1 ? own.length : lead)
  const flags: Record<string, FlagValue> = {}
  for (const [at] of before.entries()) take(before, at, { flags: common, into: flags })
  const [first, ...others] = own.slice(before.length)
  const isImplied = first === undefined || !Object.hasOwn(verbs, first)
  const verb = isImplied ? 'call' : first
  const tokens = isImplied ? own.slice(before.length) : others
  const declared = verbs[verb] as Verb
  const known = { ...common, ...declared.flags }
  // In any position, --server decides which argument is the tool.
  const hasServerFlag = tokens.some((token) => token === '--server' || token.startsWith('--server='))
  const hasServer = command !== undefined || defaultServer !== undefined || hasServerFlag
  const maxPositionals = declared.callsTool === true ? (hasServer ? 1 : 2) : (declared.maxPositionals ?? Number.POSITIVE_INFINITY)
  const positionals: string[] = []
  const rest: string[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] ?? ''
    const isRest = positionals.length >= maxPositionals
    if (isFlag(token, known) && (!isRest || isOursInRest(token, known, { declared, positionals }))) {
      at += take(tokens, at, { flags: known, into: flags, verb: isImplied ? undefined : verb })
      continue
    }
    if (isRest) rest.push(token)
    else positionals.push(token)
    at += 1
  }
  return { verb, isImplied, positionals, rest, flags, command }
}

const isFlag = (token: string, known: FlagSpecs): boolean =>
  /^-(?:-[^-=]|[a-z]$)/iu.test(token) || (/^-[a-z]+$/iu.test(token) && shortNames(token, known) !== undefined)

/** Whether a flag after the last positional argument is ours, not the tool's. */
function isOursInRest(
  token: string,
  known: FlagSpecs,
  { declared, positionals }: { readonly declared: Verb; readonly positionals: readonly string[] },
): boolean {
  if (token.startsWith('--')) return nameOf(token, known) !== undefined
  // Short flags of an added command are its own (npx -y); a URL has none.
  const isCommand = declared.maxPositionals !== undefined && !/^https?:\/\//iu.test(positionals.at(-1) ?? '')
  return !isCommand && shortNames(token, known) !== undefined
}

/** Names of the switches in `-q` or `-qy`. */
function shortNames(token: string, flags: FlagSpecs): readonly string[] | undefined {
  const names = Array.from(
    token.slice(1),
    (letter) => Object.entries(flags).find(([, { short, type }]) => short === letter && type === 'switch')?.[0],
  )
  return names.every((name) => name !== undefined) ? names : undefined
}

function nameOf(token: string, flags: FlagSpecs): string | undefined {
  const name = token.slice(2).replace(/=.*$/su, '')
  return Object.hasOwn(flags, name) ? name : undefined
}

/** Reads one flag into `into`; returns the number of tokens it took. */
function take(
  tokens: readonly string[],
  at: number,
  {
    flags,
    into,
    verb,
  }: { readonly flags: FlagSpecs; readonly into: Record<string, FlagValue>; readonly verb?: string | undefined },
): number {
  const token = tokens[at] ?? ''
  if (!token.startsWith('--')) {
    for (const name of shortNames(token, flags) ?? unknownFlag(token, flags, verb)) into[name] = true
    return 1
  }
  const name = nameOf(token, flags)
  const flag = name === undefined ? undefined : flags[name]
  if (name === undefined || flag === undefined) return unknownFlag(token, flags, verb)
  const inline = token.includes('=') ? token.slice(token.indexOf('=') + 1) : undefined
  if (flag.type === 'switch') {
    if (inline !== undefined) throw usageError(`--${name} does not take a value.`)
    into[name] = true
    return 1
  }
  const value = inline ?? tokens[at + 1]
  if (value === undefined) throw usageError(`--${name} requires a value: --${name} <${flag.value ?? 'value'}>.`)
  into[name] = flagValue(name, flag, value, into[name])
  return inline === undefined ? 2 : 1
}

function flagValue(name: string, { type }: Flag, value: string, before: FlagValue | undefined): FlagValue {
  if (type === 'texts') return [...(Array.isArray(before) ? (before as readonly string[]) : []), value]
  if (type === 'text') return value
  const number = Number(value)
  if (value.trim() === '' || !Number.isFinite(number) || number < 0)
    throw usageError(`--${name} must be a number, not "${value}".`)
  return number
}

function unknownFlag(token: string, flags: FlagSpecs, verb?: string): never {
  const name = token.replace(/^-+/u, '').replace(/=.*$/su, '')
  const close = nearest(name, Object.keys(flags)).map((each) => `--${each}`)
  const help = verb === undefined ? 'unfold --help' : `unfold ${verb} --help`
  throw usageError(`Unknown flag ${token.replace(/=.*$/su, '')}.${nearestHint(close)} Run "${help}" for usage.`, { flag: name })
}

/** The only positional argument; throws a usage error if there is none or more than one. */
export function onePositional(invocation: Invocation): string {
  return optionalPositional(invocation) ?? wrongUsage(invocation)
}

/** The positional argument, if there is one; throws a usage error if there are more. */
export function optionalPositional(invocation: Invocation): string | undefined {
  const [first, ...others] = invocation.positionals
  return others.length > 0 ? wrongUsage(invocation) : first
}

function wrongUsage({ verb }: Invocation): never {
  throw usageError(`Usage: unfold ${verb} ${verbs[verb]?.usage ?? ''}`)
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
