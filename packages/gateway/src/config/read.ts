import { FileKindError, readRegularFile } from '@unfold-mcp/core/files'
import { renameDeprecatedKeys } from './deprecated-keys.ts'
import { type ConfigDocument, parseDocument } from './document.ts'
import { ConfigError, type ConfigProblem } from './problem.ts'
import { ruleViolations, ruleWarnings } from './rules.ts'
import { type Config, configSchema, isCommandServer, type SandboxConfig, type SearchConfig, type ServerConfig } from './schema.ts'
import { schemaErrors, stripForeignKeys } from './schema-errors.ts'
import { type Environment, expand } from './variables.ts'

/** A valid configuration. */
export interface ReadConfig {
  /** Defaults and variables filled in, without the servers in `notStarted`. */
  readonly config: Config
  /** Servers whose variables are not set. The others can be used. */
  readonly notStarted: ReadonlyMap<string, readonly ConfigProblem[]>
  readonly warnings: readonly ConfigProblem[]
}

/** Reads a configuration file. Throws `ConfigError` with all problems. */
export async function readConfig(file: string, environment: Environment): Promise<ReadConfig> {
  return parseConfig(await readConfigText(file), { file, environment })
}

/** Reads the text of a configuration file. Throws `ConfigError` if that fails. */
export async function readConfigText(file: string): Promise<string> {
  try {
    return (await readRegularFile(file)).toString('utf8')
  } catch (error) {
    const message = readErrorMessage(error)
    throw new ConfigError([{ file, line: 1, column: 1, path: '', message }])
  }
}

function readErrorMessage(error: unknown): string {
  if (error instanceof FileKindError)
    return error.kind === 'a folder'
      ? 'is a folder. Specify the file in it.'
      : `is ${error.kind}, not a regular file. Replace it with a file, or specify another file.`
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return reasons[code] ?? `cannot be read (${code}).`
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'does not exist. Create it, or specify another file.',
  EACCES: 'is not readable by this user.',
}

/** Parses the text of a configuration file. Throws `ConfigError` with all problems. */
export function parseConfig(
  text: string,
  { file, environment }: { readonly file: string; readonly environment: Environment },
): ReadConfig {
  const { written, document, warnings } = validate(text, file)
  const { config, unset, problems } = expandVariables(written, document, environment)
  const notStarted = new Map([...unset].filter(([name]) => config.mcpServers[name]?.disabled === false))
  const violations = ruleViolations(config)
    .filter(({ path }) => !isUnexpandedUrl(path, notStarted))
    .map(({ path, message }) => document.problem(path, message))
  // A value with an unset variable is already reported.
  const all = [...problems, ...violations.filter(({ path }) => !problems.some((problem) => problem.path === path))]
  if (all.length > 0) throw new ConfigError(inOrder(all))
  return {
    config: {
      ...config,
      mcpServers: Object.fromEntries(Object.entries(config.mcpServers).filter(([name]) => !notStarted.has(name))),
    },
    notStarted,
    warnings: inOrder([...warnings, ...ruleWarnings(config).map(({ path, message }) => document.problem(path, message, 'key'))]),
  }
}

/** Reads a configuration file with defaults but unexpanded variables. Throws `ConfigError` like `readConfig`. */
export const writtenConfig = async (file: string): Promise<Config> => validate(await readConfigText(file), file).written

function validate(text: string, file: string) {
  const parsed = parseDocument(file, text)
  if ('problems' in parsed) throw new ConfigError(parsed.problems)
  const { document } = parsed
  const { value: stripped, warnings } = stripForeignKeys(document)
  const value = renameDeprecatedKeys(stripped)
  const result = configSchema.safeParse(value)
  if (!result.success) throw new ConfigError(inOrder(schemaErrors(document, value, result.error.issues)))
  return { written: result.data, document, warnings }
}

const inOrder = (problems: readonly ConfigProblem[]): readonly ConfigProblem[] =>
  problems.toSorted((a, b) => a.line - b.line || a.column - b.column)

const isUnexpandedUrl = (path: readonly PropertyKey[], notStarted: ReadonlyMap<string, unknown>): boolean =>
  path[0] === 'mcpServers' && path[2] === 'url' && notStarted.has(String(path[1]))

function expandVariables(config: Config, document: ConfigDocument, environment: Environment) {
  const unset = new Map<string, readonly ConfigProblem[]>()
  const problems: ConfigProblem[] = []
  const expander =
    (serverProblems: ConfigProblem[], parent: readonly PropertyKey[]): Expand =>
    (text, path) => {
      const expanded = expand(text, environment)
      for (const problem of expanded.problems) serverProblems.push(document.problem([...parent, ...path], problem))
      return expanded.text
    }
  const mcpServers = Object.fromEntries(
    Object.entries(config.mcpServers).map(([name, server]) => {
      const serverProblems: ConfigProblem[] = []
      const expanded = expandServer(server, expander(serverProblems, ['mcpServers', name]))
      if (serverProblems.length > 0) unset.set(name, serverProblems)
      return [name, expanded] as const
    }),
  )
  const expandAt = expander(problems, [])
  const store =
    config.store.kind === 'sqlite' && config.store.path !== undefined
      ? { ...config.store, path: expandAt(config.store.path, ['store', 'path']) }
      : config.store
  const audit = config.audit && { ...config.audit, path: expandAt(config.audit.path, ['audit', 'path']) }
  const search = expandSearch(config.search, expander(problems, ['search']))
  const sandbox = expandSandbox(config.sandbox, expandAt)
  const profiles = Object.fromEntries(
    Object.entries(config.profiles).map(([name, profile]) => [
      name,
      profile.search === undefined
        ? profile
        : { ...profile, search: expandSearch(profile.search, expander(problems, ['profiles', name, 'search'])) },
    ]),
  )
  return { config: { ...config, mcpServers, profiles, search, sandbox, store, ...(audit && { audit }) }, unset, problems }
}

type Expand = (text: string, path: readonly PropertyKey[]) => string

function expandSearch(search: SearchConfig, expandText: Expand): SearchConfig {
  const { embedder } = search
  if (embedder === undefined) return search
  const { url, model, apiKey } = embedder
  return {
    ...search,
    embedder: {
      url: expandText(url, ['embedder', 'url']),
      model: expandText(model, ['embedder', 'model']),
      ...(apiKey !== undefined && { apiKey: expandText(apiKey, ['embedder', 'apiKey']) }),
    },
  }
}

function expandServer(server: ServerConfig, expandText: Expand): ServerConfig {
  const table = (key: string, values: { readonly [name: string]: string }): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, expandText(text, [key, name])]))
  if (!isCommandServer(server))
    return { ...server, url: expandText(server.url, ['url']), headers: table('headers', server.headers) }
  return {
    ...server,
    command: expandText(server.command, ['command']),
    args: server.args.map((text, index) => expandText(text, ['args', index])),
    env: table('env', server.env),
    ...(server.cwd !== undefined && { cwd: expandText(server.cwd, ['cwd']) }),
    ...(server.sandbox !== undefined && { sandbox: expandSandbox(server.sandbox, expandText) }),
  }
}

function expandSandbox(sandbox: SandboxConfig, expandText: Expand): SandboxConfig {
  if (typeof sandbox === 'string') return sandbox
  const paths = (key: 'read' | 'write'): string[] => sandbox[key].map((path, index) => expandText(path, ['sandbox', key, index]))
  return { ...sandbox, read: paths('read'), write: paths('write') }
}
