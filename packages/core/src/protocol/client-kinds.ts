export type ClientEntry = { readonly [key: string]: unknown }

type Headers = Readonly<Record<string, string>>

/** Format of a client's configuration. */
export interface ClientKind {
  readonly title: string
  /** Value of `?host=` in the URL. */
  readonly host: string
  /** Its name among the clients whose configuration is read. */
  readonly place: string
  /** Key of the servers object; default: `mcpServers`. */
  readonly section?: string
  /** Format of the file; default: `json`. */
  readonly format?: 'toml' | 'yaml'
  /** Whether servers are a list. Such a file must exist, because it holds other required settings. */
  readonly isList?: boolean
  /** ClientEntry for a URL; absent if the client supports only commands. */
  readonly address?: (url: string, headers: Headers) => ClientEntry
  /** ClientEntry for a command; default: `{ command, args }`. */
  readonly command?: (command: string, args: readonly string[]) => ClientEntry
  /** Key of the environment variables; default: `env`. */
  readonly variables?: string
  /** Option that prevents the client from deferring tools. */
  readonly loaded?: ClientEntry
  /** Option that lets the client defer tools. */
  readonly deferred?: ClientEntry
  /** How to make the client load the entry. */
  readonly next: string
}

const withHeaders = (headers: Headers, key = 'headers'): ClientEntry =>
  Object.keys(headers).length === 0 ? {} : { [key]: headers }

const restart = 'Restart it.'
const newSession = 'Start a new session in it.'

const plainUrl = (url: string, headers: Headers): ClientEntry => ({ url, ...withHeaders(headers) })
const typedUrl =
  (type: string, rest: ClientEntry = {}) =>
  (url: string, headers: Headers): ClientEntry => ({ type, url, ...withHeaders(headers), ...rest })

// opencode and its forks.
const remote = (url: string, headers: Headers): ClientEntry => ({ type: 'remote', url, ...withHeaders(headers), enabled: true })
const local = (command: string, args: readonly string[]): ClientEntry => ({
  type: 'local',
  command: [command, ...args],
  enabled: true,
})

const goose = { name: 'unfold', description: 'Unfold gateway', enabled: true, timeout: 300 }

/** Supported clients, from their documentation or source. */
export const clientKinds: { readonly [name: string]: ClientKind } = {
  claude: {
    title: 'Claude Code',
    host: 'claude-code',
    place: 'claude-code',
    address: typedUrl('http'),
    loaded: { alwaysLoad: true },
    next: 'Restart it, or reconnect with /mcp.',
  },
  'claude-desktop': { title: 'Claude Desktop', host: 'claude-desktop', place: 'claude-desktop', next: 'Quit and restart it.' },
  cursor: { title: 'Cursor', host: 'cursor', place: 'cursor', address: plainUrl, next: restart },
  vscode: {
    title: 'VS Code',
    host: 'vscode',
    place: 'vscode',
    section: 'servers',
    address: typedUrl('http'),
    command: (command, args) => ({ type: 'stdio', command, args }),
    next: 'Run "MCP: List Servers" in it and start unfold there.',
  },
  codex: {
    title: 'Codex',
    host: 'codex',
    place: 'codex',
    section: 'mcp_servers',
    format: 'toml',
    address: (url, headers) => ({ url, ...withHeaders(headers, 'http_headers') }),
    next: restart,
  },
  gemini: {
    title: 'Gemini CLI',
    host: 'gemini-cli',
    place: 'gemini',
    address: (httpUrl, headers) => ({ httpUrl, ...withHeaders(headers) }),
    next: restart,
  },
  windsurf: {
    title: 'Windsurf',
    host: 'windsurf',
    place: 'windsurf',
    address: (serverUrl, headers) => ({ serverUrl, ...withHeaders(headers) }),
    next: 'Refresh its list of servers.',
  },
  kiro: { title: 'Kiro', host: 'kiro', place: 'kiro', address: plainUrl, next: restart },
  copilot: {
    title: 'Copilot CLI',
    host: 'copilot-cli',
    place: 'copilot',
    address: typedUrl('http', { tools: ['*'] }),
    command: (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
    loaded: { deferTools: 'never' },
    deferred: { deferTools: 'auto' },
    next: restart,
  },
  opencode: {
    title: 'opencode',
    host: 'opencode',
    place: 'opencode',
    section: 'mcp',
    address: remote,
    command: local,
    variables: 'environment',
    next: restart,
  },
  qwen: {
    title: 'Qwen Code',
    host: 'qwen-code',
    place: 'qwen',
    address: (httpUrl, headers) => ({ httpUrl, ...withHeaders(headers) }),
    loaded: { alwaysLoadTools: true },
    next: restart,
  },
  zed: {
    title: 'Zed',
    host: 'zed',
    place: 'zed',
    section: 'context_servers',
    address: plainUrl,
    next: 'Zed loads it automatically; see its MCP settings.',
  },
  cline: { title: 'Cline', host: 'cline', place: 'cline', address: typedUrl('streamableHttp'), next: newSession },
  'cline-vscode': {
    title: 'Cline for VS Code',
    host: 'cline',
    place: 'cline-vscode',
    address: typedUrl('streamableHttp'),
    next: 'Cline loads it automatically; see its MCP servers.',
  },
  goose: {
    title: 'Goose',
    host: 'goose',
    place: 'goose',
    section: 'extensions',
    format: 'yaml',
    address: (uri, headers) => ({ ...goose, type: 'streamable_http', uri, ...withHeaders(headers) }),
    command: (cmd, args) => ({ ...goose, type: 'stdio', cmd, args }),
    variables: 'envs',
    next: newSession,
  },
  junie: { title: 'Junie', host: 'junie', place: 'junie', address: plainUrl, next: restart },
  lmstudio: { title: 'LM Studio', host: 'lmstudio', place: 'lmstudio', address: plainUrl, next: restart },
  kilo: {
    title: 'Kilo',
    host: 'kilo',
    place: 'kilo',
    section: 'mcp',
    address: remote,
    command: local,
    variables: 'environment',
    next: restart,
  },
  crush: {
    title: 'Crush',
    host: 'crush',
    place: 'crush',
    section: 'mcp',
    address: typedUrl('http'),
    command: (command, args) => ({ type: 'stdio', command, args }),
    next: restart,
  },
  kimi: {
    title: 'Kimi Code',
    host: 'kimi-code',
    place: 'kimi',
    address: (url, headers) => ({ transport: 'http', url, ...withHeaders(headers) }),
    next: newSession,
  },
  continue: {
    title: 'Continue',
    host: 'continue',
    place: 'continue',
    format: 'yaml',
    isList: true,
    address: (url, headers) => ({
      type: 'streamable-http',
      url,
      ...(Object.keys(headers).length > 0 && { requestOptions: { headers } }),
    }),
    next: newSession,
  },
  amp: { title: 'Amp', host: 'amp', place: 'amp', section: 'amp.mcpServers', address: plainUrl, next: restart },
}

/** The entry of a URL as text to paste; `undefined` if the client supports only commands. */
export function entryText(kind: ClientKind, url: string, headers: Headers = {}): string | undefined {
  const { address, section = 'mcpServers', format, isList } = kind
  const entry = address?.(url, headers)
  if (entry === undefined) return undefined
  if (format === undefined) return JSON.stringify({ [section]: { unfold: entry } }, undefined, 2)
  const lines = (separator: string): readonly string[] =>
    Object.entries(entry).map(([key, value]) => `${key}${separator}${inline(value, separator)}`)
  if (format === 'toml') return [`[${section}.unfold]`, ...lines(' = ')].join('\n')
  if (isList === true) return [`${section}:`, '  - name: unfold', ...lines(': ').map((line) => `    ${line}`)].join('\n')
  return [`${section}:`, '  unfold:', ...lines(': ').map((line) => `    ${line}`)].join('\n')
}

/** A value on one line, which TOML and YAML read alike except for the separator of keys. */
function inline(value: unknown, separator: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}${separator}${inline(each, separator)}`)
  return `{ ${pairs.join(', ')} }`
}

/** A client without a configuration file that can be edited safely: the user pastes the entry. */
export interface PastedKind {
  readonly title: string
  readonly host: string
  /** Instructions for pasting the entry. */
  readonly where: string
  /** Instructions for removing it. */
  readonly gone: string
  readonly text: (url: string, token: string | undefined) => string
}

const bearer = (token: string | undefined): { readonly Authorization: string } | undefined =>
  token === undefined ? undefined : { Authorization: `Bearer ${token}` }

export const pastedKinds: { readonly [name: string]: PastedKind } = {
  jetbrains: {
    title: 'JetBrains AI Assistant',
    host: 'jetbrains',
    where:
      'In the IDE, open Settings | Tools | AI Assistant | Model Context Protocol (MCP), click Add, choose "As JSON" and paste',
    gone: 'In the IDE, remove unfold in Settings | Tools | AI Assistant | Model Context Protocol (MCP)',
    text: (url, token) => {
      const headers = bearer(token)
      return JSON.stringify({ mcpServers: { unfold: { url, ...(headers !== undefined && { headers }) } } }, undefined, 2)
    },
  },
}
