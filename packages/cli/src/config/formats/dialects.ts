import { type Item, isList, isTable, type Value } from '../document.ts'
import type { ClientName, ConfigLocation } from '../locations.ts'

/** How a program writes its servers, where it differs from the others. */
export interface Dialect {
  /** The names of the object with the servers, the usual one first. */
  readonly keys: readonly string[]
  /** Whether the servers are a list, in which each has its name. */
  readonly isList?: boolean
  /** What it calls the kinds of servers, beside the usual names. */
  readonly types?: { readonly [type: string]: 'stdio' | 'http' | 'sse' | 'auto' }
  /** Whether `$NAME` is a variable. */
  readonly bareNames?: boolean
  /** The entry as other programs write it; nothing for one that defines no server. */
  readonly entry?: (fields: Fields) => Fields | undefined
}

type Fields = ReadonlyMap<string, Item>

const standard = ['mcpServers', 'servers'] as const
const own: Dialect = { keys: ['mcpServers'] }

const opencode: Dialect = {
  keys: ['mcp'],
  types: { local: 'stdio', remote: 'auto' },
  entry: (fields) => {
    // An entry may do no more than switch off a server that is defined elsewhere.
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
    // Servers that extensions bring have settings alone.
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
    // What is built in has neither.
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

/** The dialect of a file: that of its program, or, where somebody named the file, of the program whose sections it has. */
export function dialectFor({ client, file, shape }: ConfigLocation, sections: ReadonlySet<string>): Dialect {
  if (client !== 'unfold') return dialects[client] ?? { keys: shape === 'settings' ? own.keys : standard }
  if (file.toLowerCase().endsWith('.toml')) return { keys: ['mcp_servers'] }
  const usual: Dialect = { keys: standard }
  if (shape !== 'claude' || usual.keys.some((key) => sections.has(key))) return usual
  const others = (['zed', 'goose', 'opencode', 'amp'] as const).map((name) => dialects[name] ?? usual)
  return others.find(({ keys }) => keys.some((key) => sections.has(key))) ?? usual
}

/** An entry as other programs write it; one that is no object stays as it is, for its error to be reported. */
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

/** The fields with those of the object in one of them. */
function merged(fields: Fields, name: string): Fields {
  const inner = fields.get(name)
  if (inner === undefined || !isTable(inner.value)) return fields
  return new Map([...[...fields].filter(([key]) => key !== name), ...inner.value])
}

/** A command that is a list: the program first, then its arguments. */
function splitCommand(fields: Fields): Fields {
  const command = fields.get('command')
  if (command === undefined || !isList(command.value)) return fields
  const [program, ...args] = command.value
  const rest = { line: command.line, column: command.column, value: args }
  return new Map([...fields, ['command', program ?? { ...rest, value: '' }], ['args', rest]])
}

const withVariables = (fields: Fields): Fields => new Map([...fields].map(([name, item]) => [name, converted(item)]))

/** `{env:NAME}` in the way of others: `${env:NAME}`. */
function converted({ line, column, value }: Item): Item {
  let made: Value = value
  if (typeof value === 'string') made = value.replaceAll(/\{((?:env|file):[^}]*)\}/gu, (_, name: string) => `\${${name}}`)
  else if (isList(value)) made = value.map(converted)
  else if (isTable(value)) made = withVariables(value)
  return { line, column, value: made }
}
