import { common, type Flag, type Verb, verbs } from '../grammar/verbs.ts'
import type { Candidate, KnownFlag, KnownTool } from './candidate.ts'

interface CachedServer {
  readonly tools: readonly KnownTool[]
  tool?(name: string): KnownTool | undefined
}

/** Data available without a connection. */
export interface CompletionCache {
  readonly servers: { readonly [name: string]: CachedServer }
  /** Servers of the gateway. */
  readonly upstreams?: () => Promise<readonly string[]>
  /** Server if the command line names none. */
  readonly defaultServer?: string | undefined
}

/** The typed words without the program name, and the index of the word at the cursor. */
export interface Typing {
  readonly words: readonly string[]
  readonly cursor: number
  readonly cache: CompletionCache
}

/** `files`: the shell should complete file names. */
export interface Completion {
  readonly candidates: readonly Candidate[]
  readonly files: boolean
}

const maxCandidates = 1_000

/** Completes the word at the cursor from cached data. */
export async function complete({ words, cursor, cache }: Typing): Promise<Completion> {
  const typed = words.slice(0, cursor)
  const lead = typed.findIndex((word) => !isCommonFlag(word))
  const before = lead === -1 ? [] : typed.slice(lead)
  const current = words[cursor] ?? ''
  // After `--` comes the command of a server.
  if (before.includes('--')) return files
  const found = await at(before, current, cache)
  if (found === 'files') return files
  const candidates = found.filter(({ value }) => value.startsWith(current) && isPrintable(value))
  return { candidates: await shown(candidates.slice(0, maxCandidates)), files: false }
}

const isCommonFlag = (word: string): boolean => Object.hasOwn(common, word.slice(2)) || isShorts(word, common)

/** Combined short flags, such as `-qy`. */
const isShorts = (word: string, flags: { readonly [name: string]: Flag }): boolean =>
  /^-[a-z]+$/iu.test(word) &&
  Array.from(word.slice(1)).every((letter) =>
    Object.values(flags).some(({ short, type }) => short === letter && type === 'switch'),
  )

const files: Completion = { candidates: [], files: true }
const none: readonly Candidate[] = []
// Control characters would break the line-based protocol.
const isPrintable = (value: string): boolean => isPlain(value) || !/[\p{C}\p{Zl}\p{Zp}]/u.test(value)
const isPlain = (text: string): boolean => /^[ -~]*$/u.test(text)

const maxDescriptionLength = 80

/** Shortens descriptions to their first line. */
async function shown(candidates: readonly Candidate[]): Promise<readonly Candidate[]> {
  const lines = candidates.map(({ description = '' }) => description.trimStart().split('\n', 1)[0] ?? '')
  // Loaded on demand: every key press waits for this.
  const { safeText } = lines.every((line) => isPlain(line) && line.length <= maxDescriptionLength)
    ? { safeText: (line: string) => line }
    : await import('../text/safe.ts')
  return candidates.map(({ value }, index) => {
    const line = lines[index] ?? ''
    return line === '' ? { value } : { value, description: safeText(line, { limit: maxDescriptionLength }) }
  })
}

async function at(before: readonly string[], current: string, cache: CompletionCache): Promise<readonly Candidate[] | 'files'> {
  const [first, ...others] = before
  if (first === undefined) return beginnings(current, cache)
  const verb = Object.hasOwn(verbs, first) ? verbs[first] : undefined
  if (verb === undefined && first === 'help')
    return Object.entries(verbs).map(([value, { description }]) => ({ value, description }))
  const declared = verb ?? verbs.call
  if (declared === undefined) return none
  const owned = { ...declared.flags, ...common }
  const { taken, open, server } = positionals(verb === undefined ? before : others, owned)
  if (open === 'server') return serverCandidates(cache)
  if (open === 'upstream') return upstreamCandidates(cache)
  if (open !== undefined) return ownValues(owned[open])
  const preset = server === undefined ? cache : { ...cache, defaultServer: server }
  return (await argumentAt(declared, taken, current, preset)) ?? (current.startsWith('-') ? flagCandidates(owned) : none)
}

function beginnings(current: string, cache: CompletionCache): readonly Candidate[] {
  if (current.startsWith('-')) return [...flagCandidates(common), { value: '--version', description: 'The version' }]
  const named = Object.entries(verbs).map(([value, { description }]) => ({ value, description }))
  return [...named, ...serverCandidates(cache)]
}

interface Positionals {
  readonly taken: readonly string[]
  /** Flag that still needs a value. */
  readonly open: string | undefined
  readonly server: string | undefined
}

function positionals(words: readonly string[], owned: { readonly [name: string]: Flag }): Positionals {
  const taken: string[] = []
  let open: string | undefined
  let server: string | undefined
  for (const word of words) {
    const [name = '', value] = word.startsWith('--') ? word.slice(2).split(/=(.*)/su) : []
    if (open !== undefined) {
      if (open === 'server') server = word
      open = undefined
    } else if (isShorts(word, owned)) continue
    else if (!Object.hasOwn(owned, name)) taken.push(word)
    else if (name === 'server' && value !== undefined) server = value
    else if (value === undefined && owned[name]?.type !== 'switch') open = name
  }
  return { taken, open, server }
}

function ownValues(flag: Flag | undefined): readonly Candidate[] | 'files' {
  if (flag?.values !== undefined) return flag.values.map((value) => ({ value }))
  const value = flag?.value ?? ''
  if (/file|folder/u.test(value)) return 'files'
  return value.includes('|') ? value.split('|').map((choice) => ({ value: choice })) : none
}

const flagCandidates = (flags: { readonly [name: string]: Flag }): readonly Candidate[] =>
  Object.entries(flags).map(([name, { description }]) => ({ value: `--${name}`, description }))

const serverCandidates = ({ servers }: CompletionCache): readonly Candidate[] =>
  Object.keys(servers).map((value) => ({ value, description: 'server' }))

const upstreamCandidates = async ({ upstreams }: CompletionCache): Promise<readonly Candidate[]> =>
  ((await upstreams?.()) ?? []).map((value) => ({ value, description: 'server' }))

/** Candidates for a positional argument; undefined if only flags are possible. */
async function argumentAt(
  verb: Verb,
  taken: readonly string[],
  current: string,
  cache: CompletionCache,
): Promise<readonly Candidate[] | 'files' | undefined> {
  if (current.startsWith('-') && verb.callsTool !== true) return undefined
  if (verb.takesUpstream === true) return taken.length === 0 ? upstreamCandidates(cache) : undefined
  if (verb.takesServer !== true) return otherWords(verb, taken)
  const { defaultServer } = cache
  const [server, tool, ...given] = defaultServer === undefined ? taken : [defaultServer, ...taken]
  if (server === undefined) return current.startsWith('-') ? undefined : serverCandidates(cache)
  const cached = Object.hasOwn(cache.servers, server) ? cache.servers[server] : undefined
  if (tool === undefined) {
    const namesTool = verb.callsTool === true || /<tool>/u.test(verb.usage)
    return current.startsWith('-') || !namesTool ? undefined : (cached?.tools ?? []).map(toolCandidate)
  }
  const called = cached?.tool?.(tool) ?? cached?.tools.find(({ name }) => name === tool)
  if (verb.callsTool !== true || called === undefined) return undefined
  const { completeArgument } = await import('./argument.ts')
  const found = completeArgument(called.flags ?? (await flagsFrom(called)), given, current)
  return current.startsWith('-') && !current.includes('=') ? [...found, ...flagCandidates({ ...verb.flags, ...common })] : found
}

/** Fixed words such as `bash|zsh|fish`, or folders. */
function otherWords({ usage }: Verb, taken: readonly string[]): readonly Candidate[] | 'files' | undefined {
  const word = usage.split(' ')[taken.length]
  if (word === undefined) return undefined
  if (/[<[]/u.test(word)) return /folder|file/u.test(word) ? 'files' : undefined
  return word.split('|').map((value) => ({ value }))
}

async function flagsFrom({ name, inputSchema }: KnownTool): Promise<readonly KnownFlag[]> {
  const { knownFlags } = await import('./flags.ts')
  return knownFlags({ name, inputSchema: { ...inputSchema, type: 'object' } })
}

const toolCandidate = ({ name, title, description }: KnownTool): Candidate => ({ value: name, description: title ?? description })
