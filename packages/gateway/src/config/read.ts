import type { SecretReference } from '@unfold-mcp/core'
import { FileKindError, readRegularFile } from '@unfold-mcp/core/files'
import type { SecretLookup, SecretResolver } from '../secrets/resolver.ts'
import { renameDeprecatedKeys } from './deprecated-keys.ts'
import { parseDocument } from './document.ts'
import type { PolicyConfig } from './policy/schema.ts'
import { ConfigError, type ConfigProblem, pathText } from './problem.ts'
import { type RuleViolation, ruleViolations, ruleWarnings } from './rules.ts'
import {
  type ClusterConfig,
  type Config,
  configSchema,
  defaultCluster,
  type FileConfig,
  isCommandServer,
  isScriptServer,
  type SandboxConfig,
  type SearchConfig,
  type ServerConfig,
  withScriptServer,
} from './schema.ts'
import { schemaErrors, stripForeignKeys } from './schema-errors.ts'
import { hasScripts } from './scripts/files.ts'
import { type Environment, expand, type SecretSource } from './variables.ts'

/** A valid configuration. */
export interface ReadConfig {
  /** Defaults and variables filled in, without the servers in `notStarted`. */
  readonly config: Config
  /** Servers whose variables are not set, or whose secrets cannot be read. The others can be used. */
  readonly notStarted: ReadonlyMap<string, readonly ConfigProblem[]>
  readonly warnings: readonly ConfigProblem[]
  /** Values of all secrets that the configuration refers to. */
  readonly secrets: readonly string[]
}

/** Reads a configuration file. Throws `ConfigError` with all problems. References to secrets expand to nothing. */
export const readConfig = async (file: string, environment: Environment): Promise<ReadConfig> =>
  parseConfig(await readConfigText(file), { file, environment })

/** A configuration that may be used. */
export interface PermittedConfig {
  readonly config: Config
  /** Servers in it that must not be started, with the reason. */
  readonly notStarted: ReadonlyMap<string, string>
}

export interface ResolveOptions {
  readonly file: string
  readonly environment: Environment
  /** Resolves references to secrets; default: they expand to nothing. */
  readonly resolver?: SecretResolver | undefined
  /** Decides what of the file may be used, before any secret is read; default: everything. */
  readonly permit?: ((written: Config) => Promise<PermittedConfig>) | undefined
  /** Runs commands again; default: false. */
  readonly isRefreshed?: boolean
}

/** Parses the text of a configuration file and resolves its secrets. Throws `ConfigError` with all problems. */
export async function resolveConfig(
  text: string,
  { resolver, permit, isRefreshed = false, file, environment }: ResolveOptions,
): Promise<ReadConfig> {
  const validated = validateText(text, file)
  const permitted = (await permit?.(validated.written)) ?? { config: validated.written, notStarted: new Map() }
  const references = expandAll(permitted, {}, () => undefined).uses.map(({ reference }) => reference)
  const secrets = (await resolver?.resolve(references, { isRefreshed })) ?? (() => undefined)
  return readExpanded(validated, permitted, { file, environment, secrets })
}

/** Returns the command lines of all `${command:…}` in use. */
export const secretCommands = (config: Config): readonly string[] => [
  ...new Set(referencesIn(config).flatMap(({ kind, argument }) => (kind === 'command' ? [argument] : []))),
]

/** Returns the command lines of all `${command:…}` in use; none if the text is invalid. */
export function secretCommandsIn(text: string): readonly string[] {
  try {
    return secretCommands(validateText(text, '').written)
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
}

/** A reference to a secret and the setting that contains it. */
export interface SecretUse {
  readonly reference: SecretReference
  /** Such as `mcpServers.git.env.TOKEN`. */
  readonly path: string
}

/** Returns the references to secrets of all settings in use, as written. */
export function secretUses(config: Config): readonly SecretUse[] {
  return expandAll({ config, notStarted: new Map() }, {}, () => undefined).uses
}

const referencesIn = (config: Config): readonly SecretReference[] => secretUses(config).map(({ reference }) => reference)

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

export interface ParseOptions {
  readonly file: string
  readonly environment: Environment
  /** Resolved secrets. Without them, references to secrets expand to nothing. */
  readonly secrets?: SecretLookup
  /** True if another process runs the gateway. Its environment configures the cluster, so values of `cluster` are not checked. */
  readonly isEdit?: boolean
}

/** Parses the text of a configuration file. Throws `ConfigError` with all problems. */
export function parseConfig(
  text: string,
  { file, environment, secrets = () => undefined, isEdit = false }: ParseOptions,
): ReadConfig {
  const validated = validateText(text, file)
  return readExpanded(validated, { config: validated.written, notStarted: new Map() }, { file, environment, secrets, isEdit })
}

function readExpanded(
  { document, warnings }: ReturnType<typeof validateText>,
  permitted: PermittedConfig,
  {
    file,
    environment,
    secrets,
    isEdit = false,
  }: Pick<ParseOptions, 'file' | 'environment' | 'isEdit'> & { readonly secrets: SecretLookup },
): ReadConfig {
  const all = expandAll(permitted, environment, secrets)
  const located = ({ path, message }: RuleViolation): ConfigProblem => document.problem(path, message)
  const { unresolvedUrls, isClusterUnresolved } = all
  const config = hasScripts(all.config, file) ? withScriptServer(all.config) : all.config
  const unset = new Map([...all.unset].map(([name, violations]) => [name, violations.map(located)]))
  const isIgnored = ([section, , key]: readonly PropertyKey[]): boolean =>
    isEdit && (section === 'cluster' || (section === 'mcpServers' && (key === 'placement' || key === 'follow')))
  const problems = all.problems.filter(({ path }) => !isIgnored(path)).map(located)
  const notStarted = new Map([...unset].filter(([name]) => config.mcpServers[name]?.disabled === false))
  const violations = ruleViolations(config)
    .filter(
      ({ path }) =>
        !isIgnored(path) &&
        !isUnexpandedUrl(path, notStarted) &&
        !isUnexpandedUrl(path, unresolvedUrls) &&
        !(path[0] === 'cluster' && isClusterUnresolved),
    )
    .map(({ path, message }) => document.problem(path, message))
  // A value with an unset variable is already reported.
  const found = [...problems, ...violations.filter(({ path }) => !problems.some((problem) => problem.path === path))]
  if (found.length > 0) throw new ConfigError(inOrder(found))
  return {
    config: {
      ...config,
      mcpServers: Object.fromEntries(Object.entries(config.mcpServers).filter(([name]) => !notStarted.has(name))),
    },
    notStarted,
    warnings: inOrder([
      ...warnings,
      ...ruleWarnings(config).map(({ path, message }) => document.problem(path, message, 'key')),
      ...all.warnings.map(located),
    ]),
    secrets: all.secrets,
  }
}

/** Reads a configuration file with defaults but unexpanded variables. Throws `ConfigError` like `readConfig`. */
export const writtenConfig = async (file: string): Promise<FileConfig> => validateText(await readConfigText(file), file).written

/** Parses and validates a text, with unexpanded variables. Throws `ConfigError` with all problems. */
export function validateText(text: string, file: string) {
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

const isUnexpandedUrl = (path: readonly PropertyKey[], names: { readonly has: (name: string) => boolean }): boolean =>
  path[0] === 'mcpServers' && path[2] === 'url' && names.has(String(path[1]))

// Other users of the machine can see the arguments of processes.
const notInCommands: SecretSource = {
  forbidden: 'secrets are not allowed in commands, because other users can see them there. Use env.',
}
const notInPaths: SecretSource = { forbidden: 'secrets are allowed only in env, headers, url, apiKey and cluster.' }

function expandAll({ config, notStarted }: PermittedConfig, environment: Environment, lookup: SecretLookup) {
  const unset = new Map<string, readonly RuleViolation[]>()
  const problems: RuleViolation[] = []
  const warnings: RuleViolation[] = []
  const secrets: string[] = []
  const uses: SecretUse[] = []
  const unresolvedUrls = new Set<string>()
  let isClusterUnresolved = false
  const expander =
    (found: RuleViolation[], parent: readonly PropertyKey[]): Expand =>
    (text, path, source) => {
      const at = [...parent, ...path]
      const used: SecretLookup = (reference) => {
        uses.push({ reference, path: pathText(at) })
        return lookup(reference)
      }
      const expanded = expand(text, environment, source ?? used)
      for (const message of expanded.problems) found.push({ path: at, message })
      if (at[2] === 'headers' && /[\r\n]/u.test(expanded.text))
        found.push({ path: at, message: 'contains a line break in the value of a variable or secret. Remove it.' })
      for (const message of expanded.warnings) warnings.push({ path: at, message })
      secrets.push(...expanded.secrets)
      if (expanded.isUnresolved && isUrlPath(at)) unresolvedUrls.add(String(at[1]))
      if (expanded.isUnresolved && at[0] === 'cluster') isClusterUnresolved = true
      return expanded.text
    }
  const mcpServers = Object.fromEntries(
    Object.entries(config.mcpServers).map(([name, server]) => {
      const serverProblems: RuleViolation[] = []
      const expandText = expander(serverProblems, ['mcpServers', name])
      const reason = notStarted.get(name)
      // Nothing is read or run for a server that is not started.
      const expanded = expandServer(
        server,
        server.disabled || reason !== undefined ? (text, path) => expandText(text, path, () => undefined) : expandText,
      )
      if (reason !== undefined) unset.set(name, [{ path: ['mcpServers', name], message: reason }])
      else if (serverProblems.length > 0) unset.set(name, serverProblems)
      return [name, expanded] as const
    }),
  )
  const expandAt = expander(problems, [])
  const store =
    config.store.kind === 'sqlite' && config.store.path !== undefined
      ? { ...config.store, path: expandAt(config.store.path, ['store', 'path'], notInPaths) }
      : config.store
  const audit = config.audit && { ...config.audit, path: expandAt(config.audit.path, ['audit', 'path'], notInPaths) }
  const cluster = expandCluster(config.cluster, environment, expander(problems, ['cluster']))
  const search = expandSearch(config.search, expander(problems, ['search']))
  const sandbox = expandSandbox(config.sandbox, expandAt)
  const policy = config.policy && expandPolicy(config.policy, expandAt)
  const profiles = Object.fromEntries(
    Object.entries(config.profiles).map(([name, profile]) => [
      name,
      profile.search === undefined
        ? profile
        : { ...profile, search: expandSearch(profile.search, expander(problems, ['profiles', name, 'search'])) },
    ]),
  )
  const expandedConfig = {
    ...config,
    mcpServers,
    profiles,
    search,
    sandbox,
    store,
    ...(cluster && { cluster }),
    ...(audit && { audit }),
    ...(policy && { policy }),
  }
  return { config: expandedConfig, unset, problems, warnings, secrets, uses, unresolvedUrls, isClusterUnresolved }
}

const isUrlPath = ([section, , key]: readonly PropertyKey[]): boolean => section === 'mcpServers' && key === 'url'

type Expand = (text: string, path: readonly PropertyKey[], source?: SecretSource) => string

function expandSearch(search: SearchConfig, expandText: Expand): SearchConfig {
  const { embedder } = search
  if (embedder === undefined) return search
  const { url, model, apiKey } = embedder
  return {
    ...search,
    embedder: {
      url: expandText(url, ['embedder', 'url'], notInPaths),
      model: expandText(model, ['embedder', 'model'], notInPaths),
      ...(apiKey !== undefined && { apiKey: expandText(apiKey, ['embedder', 'apiKey']) }),
    },
  }
}

const defaultPrefix = 'unfold:'

/** The environment applies to what the file does not set. */
function expandCluster(written: ClusterConfig | undefined, environment: Environment, expandText: Expand): Config['cluster'] {
  const variable = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name])
  const value = (key: 'url' | 'secret' | 'advertise', name?: string): { readonly [key: string]: string } => {
    const text = written?.[key]
    const found = text !== undefined ? expandText(text, [key]) : name === undefined ? undefined : variable(name)
    return found === undefined ? {} : { [key]: found }
  }
  const cluster = {
    ...value('url', 'UNFOLD_CLUSTER_URL'),
    ...value('secret', 'UNFOLD_CLUSTER_SECRET'),
    ...value('advertise'),
    prefix: written?.prefix ?? variable('UNFOLD_CLUSTER_PREFIX') ?? defaultPrefix,
    leaseMs: (written ?? defaultCluster).leaseMs,
    drainMs: (written ?? defaultCluster).drainMs,
  }
  return written === undefined && !('url' in cluster) && !('secret' in cluster) ? undefined : cluster
}

function expandServer(server: ServerConfig, expandText: Expand): ServerConfig {
  const table = (key: string, values: { readonly [name: string]: string }): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, expandText(text, [key, name])]))
  if (isScriptServer(server)) return server
  if (!isCommandServer(server))
    return { ...server, url: expandText(server.url, ['url']), headers: table('headers', server.headers) }
  return {
    ...server,
    command: expandText(server.command, ['command'], notInCommands),
    args: server.args.map((text, index) => expandText(text, ['args', index], notInCommands)),
    env: table('env', server.env),
    ...(server.cwd !== undefined && { cwd: expandText(server.cwd, ['cwd'], notInPaths) }),
    ...(server.sandbox !== undefined && { sandbox: expandSandbox(server.sandbox, expandText) }),
  }
}

function expandSandbox(sandbox: SandboxConfig, expandText: Expand): SandboxConfig {
  if (typeof sandbox === 'string') return sandbox
  const paths = (key: 'read' | 'write'): string[] =>
    sandbox[key].map((path, index) => expandText(path, ['sandbox', key, index], notInPaths))
  return { ...sandbox, read: paths('read'), write: paths('write') }
}

function expandPolicy(policy: PolicyConfig, expandText: Expand): PolicyConfig {
  const rules = policy.rules.map((rule, index) => {
    if (rule.path === undefined) return rule
    const at = ['policy', 'rules', index, 'path']
    const folders = (key: 'inside' | 'outside') =>
      rule.path?.[key] && { [key]: rule.path[key].map((text, each) => expandText(text, [...at, key, each], notInPaths)) }
    const { relativeTo } = rule.path
    const base = relativeTo !== undefined && { relativeTo: expandText(relativeTo, [...at, 'relativeTo'], notInPaths) }
    return { ...rule, path: { ...rule.path, ...folders('inside'), ...folders('outside'), ...base } }
  })
  return { ...policy, rules }
}
