import { readFile } from 'node:fs/promises'
import { type ConfigDocument, parseDocument } from './document.ts'
import { schemaErrors, stripForeignKeys } from './schema-errors.ts'
import { ConfigError, type ConfigProblem } from './problem.ts'
import { ruleViolations, ruleWarnings } from './rules.ts'
import { type Config, configSchema, isCommandServer, type SearchConfig, type ServerConfig } from './schema.ts'
import { type Environment, expand } from './variables.ts'

/** A configuration that can be used. */
export interface ReadConfig {
  /** With every default and variable filled in, and without the servers that are held back. */
  readonly config: Config
  /** Servers that cannot be used until what they need is there; all others can. */
  readonly held: ReadonlyMap<string, readonly ConfigProblem[]>
  readonly warnings: readonly ConfigProblem[]
}

/** Reads a configuration file; throws `ConfigError` with all that is wrong with it. */
export async function readConfig(file: string, environment: Environment): Promise<ReadConfig> {
  return parseConfig(await textOf(file), { file, environment })
}

/** The text of a configuration file; throws `ConfigError` for one that cannot be read. */
export async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    const message = reasons[code] ?? `cannot be read (${code}).`
    throw new ConfigError([{ file, line: 1, column: 1, path: '', message }])
  }
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'is not there. Write it, or name another file.',
  EISDIR: 'is a folder. Name the file in it.',
  EACCES: 'may not be read by this user.',
}

/** Reads the text of a configuration; throws `ConfigError` with all that is wrong with it. */
export function parseConfig(
  text: string,
  { file, environment }: { readonly file: string; readonly environment: Environment },
): ReadConfig {
  const { written, document, warnings } = checked(text, file)
  const { config, unset, problems } = filledIn(written, document, environment)
  const held = new Map([...unset].filter(([name]) => config.mcpServers[name]?.disabled === false))
  const found = ruleViolations(config)
    .filter(({ path }) => !isAbout(path, held))
    .map(({ path, message }) => document.problem(path, message))
  // What a variable that is not set left behind says nothing new.
  const all = [...problems, ...found.filter(({ path }) => !problems.some((problem) => problem.path === path))]
  if (all.length > 0) throw new ConfigError(inOrder(all))
  return {
    config: { ...config, mcpServers: Object.fromEntries(Object.entries(config.mcpServers).filter(([name]) => !held.has(name))) },
    held,
    warnings: inOrder([...warnings, ...ruleWarnings(config).map(({ path, message }) => document.problem(path, message, 'key'))]),
  }
}

/** A configuration file as it is written, with defaults and no variable filled in; throws `ConfigError` like `readConfig`. */
export const writtenConfig = async (file: string): Promise<Config> => checked(await textOf(file), file).written

function checked(text: string, file: string) {
  const parsed = parseDocument(file, text)
  if ('problems' in parsed) throw new ConfigError(parsed.problems)
  const { document } = parsed
  const { value, warnings } = stripForeignKeys(document)
  const result = configSchema.safeParse(value)
  if (!result.success) throw new ConfigError(inOrder(schemaErrors(document, value, result.error.issues)))
  return { written: result.data, document, warnings }
}

const inOrder = (problems: readonly ConfigProblem[]): readonly ConfigProblem[] =>
  problems.toSorted((a, b) => a.line - b.line || a.column - b.column)

/** What a variable makes of an address is no mistake of whoever wrote the variable's name. */
const isAbout = (path: readonly PropertyKey[], held: ReadonlyMap<string, unknown>): boolean =>
  path[0] === 'mcpServers' && path[2] === 'url' && held.has(String(path[1]))

function filledIn(config: Config, document: ConfigDocument, environment: Environment) {
  const unset = new Map<string, readonly ConfigProblem[]>()
  const problems: ConfigProblem[] = []
  const into = (found: ConfigProblem[], path: readonly PropertyKey[]) => (text: string, more: readonly PropertyKey[]) => {
    const expanded = expand(text, environment)
    for (const problem of expanded.problems) found.push(document.problem([...path, ...more], problem))
    return expanded.text
  }
  const mcpServers = Object.fromEntries(
    Object.entries(config.mcpServers).map(([name, server]) => {
      const found: ConfigProblem[] = []
      const filled = filledServer(server, into(found, ['mcpServers', name]))
      if (found.length > 0) unset.set(name, found)
      return [name, filled] as const
    }),
  )
  const { store } = config
  const isPlaced = store.kind === 'sqlite' && store.path !== undefined
  const placed = isPlaced ? { ...store, path: into(problems, ['store'])(store.path ?? '', ['path']) } : store
  const { audit } = config
  const written = audit === undefined ? {} : { audit: { ...audit, path: into(problems, ['audit'])(audit.path, ['path']) } }
  const search = filledSearch(config.search, into(problems, ['search']))
  const profiles = Object.fromEntries(
    Object.entries(config.profiles).map(([name, profile]) => {
      const own = profile.search
      return [
        name,
        own === undefined ? profile : { ...profile, search: filledSearch(own, into(problems, ['profiles', name, 'search'])) },
      ]
    }),
  )
  return { config: { ...config, mcpServers, profiles, search, store: placed, ...written }, unset, problems }
}

type Fill = (text: string, path: readonly PropertyKey[]) => string

function filledSearch(search: SearchConfig, fill: Fill): SearchConfig {
  const { embedder } = search
  if (embedder === undefined) return search
  const { url, model, apiKey } = embedder
  return {
    ...search,
    embedder: {
      url: fill(url, ['embedder', 'url']),
      model: fill(model, ['embedder', 'model']),
      ...(apiKey !== undefined && { apiKey: fill(apiKey, ['embedder', 'apiKey']) }),
    },
  }
}

function filledServer(server: ServerConfig, fill: Fill): ServerConfig {
  const table = (key: string, values: { readonly [name: string]: string }): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, fill(text, [key, name])]))
  if (!isCommandServer(server)) return { ...server, url: fill(server.url, ['url']), headers: table('headers', server.headers) }
  return {
    ...server,
    command: fill(server.command, ['command']),
    args: server.args.map((text, index) => fill(text, ['args', index])),
    env: table('env', server.env),
    ...(server.cwd !== undefined && { cwd: fill(server.cwd, ['cwd']) }),
  }
}
