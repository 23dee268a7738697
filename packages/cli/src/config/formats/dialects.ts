import { type Item, isList, isTable } from '../document.ts'
import type { ClientName, ConfigLocation } from '../locations.ts'

/** Differences in how a program stores its servers. */
export interface Dialect {
  /** Keys of the server section, preferred one first. */
  readonly keys: readonly string[]
  /** Whether servers are a list with `name` fields. */
  readonly isList?: boolean
  /** Additional values of `type`. */
  readonly types?: { readonly [type: string]: 'stdio' | 'http' | 'sse' | 'auto' }
  /** Whether `$NAME` is a variable. */
  readonly bareNames?: boolean
  /** Converts an entry to the common format; undefined if it defines no server. */
  readonly entry?: (fields: Fields) => Fields | undefined
}

type Fields = ReadonlyMap<string, Item>

const standard = ['mcpServers', 'servers'] as const
const own: Dialect = { keys: ['mcpServers'] }

const opencode: Dialect = {
  keys: ['mcp'],
  types: { local: 'stdio', remote: 'auto' },
  entry: (fields) => {
    // An entry may only disable a server defined elsewhere.
    if (!fields.has('command') && !fields.has('url')) return undefined
    return withVariables(renamed(splitCommand(fields), { environment: 'env' }))
  },
}

const dialects: { readonly [C in ClientName]?: Dialect } = {
  vscode: { keys: ['servers', 'mcpServers'] },
  codex: { keys: ['mcp_servers'] },
  'claude-desktop': own,
  gemini: { ...own, bareNames: true },
  copilot: { keys: standard, types: { local: 'stdio' } },
  opencode,
  kilo: opencode,
  qwen: { ...own, bareNames: true },
  zed: {
    keys: ['context_servers'],
    // Servers from extensions only have settings.
    entry: (fields) => {
      const flat = merged(fields, 'command')
      return flat.has('command') || flat.has('path') || flat.has('url') ? renamed(flat, { path: 'command' }) : undefined
    },
  },
  cline: { keys: standard, entry: (fields) => merged(fields, 'transport') },
  'cline-vscode': { keys: standard, entry: (fields) => merged(fields, 'transport') },
  goose: {
    keys: ['extensions'],
    types: { streamable_http: 'http' },
    // Built-in extensions have neither.
    entry: (fields) =>
      fields.has('cmd') || fields.has('uri')
        ? renamed(fields, { cmd: 'command', uri: 'url', envs: 'env', env_keys: 'env_vars' })
        : undefined,
  },
  crush: { keys: ['mcp'], bareNames: true },
  kimi: { keys: standard, entry: (fields) => renamed(fields, { bearerTokenEnvVar: 'bearer_token_env_var' }) },
  amp: { keys: ['amp.mcpServers'] },
  continue: { ...own, isList: true, entry: (fields) => merged(fields, 'requestOptions') },
}

/** The dialect of the client; for a file passed explicitly, derived from its sections. */
export function dialectFor({ client, file, shape }: ConfigLocation, sections: ReadonlySet<string>): Dialect {
  if (client !== 'unfold') return dialects[client] ?? { keys: shape === 'settings' ? own.keys : standard }
  if (file.toLowerCase().endsWith('.toml')) return { keys: ['mcp_servers'] }
  const usual: Dialect = { keys: standard }
  if (shape !== 'claude' || usual.keys.some((key) => sections.has(key))) return usual
  const others = (['zed', 'goose', 'opencode', 'amp'] as const).map((name) => dialects[name] ?? usual)
  return others.find(({ keys }) => keys.some((key) => sections.has(key))) ?? usual
}

/** An entry that is not an object is returned unchanged and reported later. */
export function entryIn({ entry }: Dialect, item: Item): Item | undefined {
  if (entry === undefined || !isTable(item.value)) return item
  const value = entry(item.value)
  return value === undefined ? undefined : { line: item.line, column: item.column, value }
}

function renamed(fields: Fields, names: { readonly [from: string]: string }): Fields {
  return new Map(
    [...fields].map(([name, item]) => [
      !Object.hasOwn(names, name) || fields.has(names[name] ?? '') ? name : (names[name] ?? name),
      item,
    ]),
  )
}

/** Merges the object in one field into its parent. */
function merged(fields: Fields, name: string): Fields {
  const inner = fields.get(name)
  if (inner === undefined || !isTable(inner.value)) return fields
  return new Map([...[...fields].filter(([key]) => key !== name), ...inner.value])
}

/** A command list: program, then arguments. */
function splitCommand(fields: Fields): Fields {
  const command = fields.get('command')
  if (command === undefined || !isList(command.value)) return fields
  const [program, ...args] = command.value
  const rest = { line: command.line, column: command.column, value: args }
  return new Map([...fields, ['command', program ?? { ...rest, value: '' }], ['args', rest]])
}

const withVariables = (fields: Fields): Fields => new Map([...fields].map(([name, item]) => [name, converted(item)]))

/** `{env:NAME}` becomes `${env:NAME}`. */
function converted({ line, column, value }: Item): Item {
  if (typeof value === 'string')
    return { line, column, value: value.replaceAll(/\{((?:env|file):[^}]*)\}/gu, (_, name: string) => `\${${name}}`) }
  if (isList(value)) return { line, column, value: value.map(converted) }
  return { line, column, value: isTable(value) ? withVariables(value) : value }
}
