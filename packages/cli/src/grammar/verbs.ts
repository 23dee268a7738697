/** A flag of the unfold command itself, as opposed to a parameter of a tool. */
export interface Flag {
  readonly type: 'switch' | 'text' | 'texts' | 'number'
  readonly description: string
  /** Placeholder for the value in the help; `a|b|c` lists all allowed values. */
  readonly value?: string
  /** Allowed values, where `value` does not list them. */
  readonly values?: readonly string[]
  readonly short?: string
}

type Flags = { readonly [name: string]: Flag }

export interface Verb {
  readonly description: string
  /** Positional arguments, such as `<server> [<tool>]`. */
  readonly usage: string
  /** Stands for `usage` in the help if that is a long list of values. */
  readonly placeholder?: string
  readonly flags: Flags
  /** Whether the arguments after the server are a tool and its arguments. */
  readonly callsTool?: boolean
  /** Number of positional arguments before the command line of another program. */
  readonly maxPositionals?: number
  /** Whether it takes a server: a name, a URL, or a command after `--`. */
  readonly takesServer?: boolean
  /** Whether it takes the name of a server of the gateway. */
  readonly takesUpstream?: boolean
}

const text = (value: string, description: string): Flag => ({ type: 'text', value, description })
const texts = (value: string, description: string): Flag => ({ type: 'texts', value, description })
const number = (value: string, description: string): Flag => ({ type: 'number', value, description })
const toggle = (description: string, short?: string): Flag => ({ type: 'switch', description, ...(short && { short }) })

/** Flags of every command. */
export const common: Flags = {
  json: toggle('Print one JSON object'),
  jsonl: toggle('Print one JSON object per line'),
  quiet: toggle('Print only errors to stderr', 'q'),
  'no-color': toggle('Disable colors (also NO_COLOR)'),
  'no-input': toggle('Never prompt; fail instead'),
  yes: toggle('Answer yes to all prompts', 'y'),
  debug: toggle('Print stack traces and the stderr of servers'),
  help: toggle('Show help', 'h'),
}

const consentFlags: Flags = {
  'allow-env': texts('NAME', 'With --yes: allow this variable, which makes programs load other code; repeatable'),
}

/** Flags of the commands that connect to a server. */
const serverFlags: Flags = {
  timeout: number('seconds', 'Timeout; default: 60, or 600 while npx, uvx or docker may be installing the server'),
  header: texts('name: value', 'HTTP header for a server at a URL; repeatable'),
  env: texts('NAME=value', 'Environment variable for a server started by a command; repeatable'),
  config: text('file', 'Read servers from this file only'),
  server: text('name', 'Server, so that tools come first (also UNFOLD_SERVER)'),
  protocol: text('revision', 'auto, session or 2026-07-28'),
  'no-cache': toggle('Bypass the tool cache'),
  ...consentFlags,
}

// A preview chooses the protocol itself and never reads a cache.
const { protocol: _protocol, 'no-cache': _noCache, ...previewFlags } = serverFlags

const dryRun = { 'dry-run': toggle('Show changes without writing them') }

/** Flags of the commands that edit the configuration of a gateway. */
const editFlags: Flags = {
  config: text('unfold.json file', 'Configuration to edit; default: ./unfold.json, then your user configuration'),
  ...dryRun,
}

/** Flags that select one of several running gateways. */
const runningFlags: Flags = {
  config: text('unfold.json file', 'Gateway that runs with this configuration'),
  url: text('url', 'Gateway at this URL'),
  pid: number('pid', 'Gateway with this process ID'),
}

const importedClients =
  'claude|claude-desktop|cursor|vscode|codex|gemini|windsurf|kiro|copilot|opencode|qwen|zed|cline|cline-vscode|goose|junie|lmstudio|kilo|crush|kimi|amp|continue'
// Duplicated here because loading the table would slow down every completion; a test compares the two.
const previewedHosts = [
  'claude-code',
  'codex',
  'gemini-cli',
  'opencode',
  'qwen-code',
  'copilot-cli',
  'kilo',
  'cline',
  'continue',
  'kimi-code',
]
const connectedClients = `${importedClients}|jetbrains`
const logLevels = 'debug|info|warn|error'

export const verbs: { readonly [name: string]: Verb } = {
  serve: {
    description: 'Run the gateway',
    usage: '[<file>]',
    flags: {
      http: number('port', 'Port to listen on; default: from the configuration (7420)'),
      port: number('port', 'Same as --http'),
      host: text(
        'address',
        'Address to listen on; default: from the configuration (127.0.0.1). With --stdio: the host, e.g. codex',
      ),
      stdio: toggle('Serve one client over stdio, through a running gateway if there is one'),
      standalone: toggle('With --stdio: start the servers in this process even if a gateway is running'),
      profile: text('name', 'With --stdio: profile of the client; over HTTP use /mcp/<profile>'),
      exposure: text('name', 'With --stdio: how tools are exposed; over HTTP use /mcp?exposure=search'),
      view: text('groups=a,b', 'With --stdio: initial view; over HTTP use /mcp?groups=a,b'),
      'log-level': text(logLevels, 'Log level; default: info, or warn with --stdio'),
      ...consentFlags,
    },
  },
  add: {
    description: 'Add a server to the gateway',
    usage: '<name> <url> | <name> [--] <command …>',
    maxPositionals: 2,
    flags: {
      env: texts('NAME=value', 'Environment variable; NAME alone passes on your own; repeatable'),
      header: texts('name: value', 'HTTP header; repeatable'),
      description: text('text', 'What the server is for'),
      group: text('name', 'Group of the server'),
      sandbox: text('preset', 'Limits of the process: none, files or strict (Linux); default: as in the configuration'),
      lazy: toggle('Start on first call'),
      disabled: toggle('Add without enabling'),
      force: toggle('Replace a server of the same name'),
      about: text('text', 'Same as --description'),
      ...consentFlags,
      ...editFlags,
    },
  },
  remove: {
    description: 'Remove a server from the gateway',
    usage: '<server>',
    takesUpstream: true,
    flags: editFlags,
  },
  import: {
    description: 'Import servers from your other MCP clients',
    usage: '[<name> …]',
    flags: {
      from: {
        type: 'text',
        value: 'client|file',
        values: importedClients.split('|'),
        description: `Import from this client or file only: ${importedClients.replaceAll('|', ', ')}`,
      },
      ...consentFlags,
      ...editFlags,
    },
  },
  token: {
    description: 'Manage access tokens of the gateway',
    usage: 'add|list|revoke [<name>]',
    flags: {
      profile: text('name', 'With add: restrict the token to this profile'),
      role: text('metrics|viewer|reviewer|operator|admin', 'With add: for /metrics and the admin API instead of MCP clients'),
      ...editFlags,
    },
  },
  secret: {
    description: 'Store secrets outside the configuration',
    usage: 'set|list|remove [<name>]',
    flags: {
      store: text('keyring|file', 'With set: where to store it; default: the system keyring if it is usable'),
      config: text('unfold.json file', 'With list: configuration that uses the secrets'),
    },
  },
  connect: {
    description: 'Connect an MCP client to the gateway',
    usage: connectedClients,
    placeholder: '<client>',
    flags: {
      profile: text('name', 'Profile for the client'),
      token: text('token', 'Access token for the client; see unfold token'),
      url: text('url', 'URL of the gateway; default: the running gateway, or from the configuration'),
      stdio: toggle('Use a command ("unfold serve --stdio") instead of a URL'),
      exposure: text('name', 'auto, everything, native, groups, lazy, search or code; default: best for the client'),
      'no-verify': toggle('Skip the test connection'),
      config: text('unfold.json file', 'Configuration of the gateway'),
      ...dryRun,
    },
  },
  disconnect: {
    description: 'Disconnect an MCP client from the gateway',
    usage: connectedClients,
    placeholder: '<client>',
    flags: dryRun,
  },
  status: {
    description: 'Show servers, clients and token savings of the running gateway',
    usage: '[<server>]',
    takesUpstream: true,
    flags: { watch: toggle('Refresh until interrupted'), ...runningFlags },
  },
  logs: {
    description: 'Show the log of the running gateway',
    usage: '[<server>]',
    takesUpstream: true,
    flags: {
      follow: toggle('Stream new lines', 'f'),
      upstream: text('name', 'Same as <server>'),
      level: text(logLevels, 'Minimum level'),
      stderr: toggle('Show the stderr output of servers instead'),
      limit: number('n', 'Number of lines; default: 100'),
      ...runningFlags,
    },
  },
  audit: {
    description: 'Show or verify the audit log of the gateway',
    usage: '[<file>] | verify [<file>]',
    flags: {
      follow: toggle('Stream new records', 'f'),
      server: text('name', 'Only this server; * matches any characters'),
      tool: text('name', 'Only this tool, by its name on the server; * matches any characters'),
      client: text('name', 'Only this client, such as token:alice or anonymous; * matches any characters'),
      outcome: text('outcome', 'Only this outcome, such as ok, error or rate_limited; * matches any characters'),
      type: text('call|rejection|approval|trust|policy|token|config|start|stop', 'Only records of this type'),
      since: text('time', 'Only records since this date, or of this long, such as 2h'),
      limit: number('n', 'Number of records; default: 100'),
      config: text('unfold.json file', 'Configuration of the gateway; default: ./unfold.json, then your user configuration'),
    },
  },
  review: {
    description: 'Approve or block what servers changed',
    usage: '[<server>]',
    takesUpstream: true,
    flags: {
      approve: texts('server[/tool]', 'Approve a tool, or everything of a server that is not blocked; repeatable'),
      block: texts('server[/tool]', 'Block a tool under any name, or everything of a server; repeatable'),
      'approve-harmless': toggle('Approve everything in which no rule found anything'),
      ...runningFlags,
    },
  },
  trust: {
    description: 'Move decisions about servers to another machine',
    usage: 'export [<file>] | import <file>',
    flags: {
      config: text('unfold.json file', 'Configuration of the gateway; default: ./unfold.json, then your user configuration'),
    },
  },
  approvals: {
    description: 'Answer calls that wait for approval',
    usage: '[list] | approve|deny|revoke <id> …',
    flags: {
      watch: toggle('Show new calls until interrupted'),
      for: text('once|session|always', 'With approve: how far it reaches; default: once'),
      ...runningFlags,
    },
  },
  script: {
    description: 'List, test and create stored scripts',
    usage: 'list | test [<name>] | from <audit id> [<name>]',
    flags: {
      config: text('unfold.json file', 'Configuration of the gateway; default: ./unfold.json, then your user configuration'),
    },
  },
  policy: {
    description: 'Explain the policy for a call, or suggest rules',
    usage: "test <tool> ['<arguments as JSON>'] | suggest",
    flags: {
      token: text('name', 'With test: as the client with this token'),
      profile: text('name', 'With test: as a client of this profile'),
      config: text('unfold.json file', 'Configuration of the gateway; default: ./unfold.json, then your user configuration'),
    },
  },
  ui: {
    description: 'Open the dashboard of the running gateway',
    usage: '',
    flags: { ...runningFlags, 'no-open': toggle('Print a link that signs a browser in once') },
  },
  why: {
    description: 'Explain why a client does or does not see a tool',
    usage: '<tool>',
    flags: {
      ...runningFlags,
      client: text(
        'token or host',
        'As the client with this token, or of this host, such as claude-code; default: a client without a token',
      ),
      profile: text('name', 'As a client of this profile'),
      server: text('name', 'As a client of this server alone (/mcp/s/<server>)'),
      era: text('session|stateless', 'Protocol of the client; default: session'),
      view: text('query', "Query of the client's URL, such as groups=a,b or host=claude-code"),
    },
  },
  usage: {
    description: 'Show calls by server, tool and client, and unused tools',
    usage: '',
    flags: runningFlags,
  },
  reload: {
    description: 'Reload the configuration of the running gateway',
    usage: '',
    flags: runningFlags,
  },
  restart: {
    description: 'Restart a server of the running gateway',
    usage: '<server>',
    takesUpstream: true,
    flags: runningFlags,
  },
  enable: {
    description: 'Enable a server',
    usage: '<server>',
    takesUpstream: true,
    flags: editFlags,
  },
  disable: {
    description: 'Disable a server without removing it',
    usage: '<server>',
    takesUpstream: true,
    flags: editFlags,
  },
  set: {
    description: 'Change settings of a server in the configuration',
    usage: '<server> <key>=<value> …',
    takesUpstream: true,
    flags: {
      remove: texts('key', 'Remove this setting, so that its default applies; repeatable'),
      ...consentFlags,
      ...editFlags,
    },
  },
  list: {
    description: 'List the tools of a server, or all known servers',
    usage: '[<server>]',
    takesServer: true,
    flags: { ...serverFlags, schemas: toggle('Include full schemas'), names: toggle('Print names only') },
  },
  call: {
    description: 'Call a tool; without a tool, choose one interactively',
    usage: '<server> [<tool>] [--flag value …]',
    takesServer: true,
    callsTool: true,
    flags: {
      ...serverFlags,
      args: texts('json|@file|-', 'All arguments as JSON'),
      'max-time': number('seconds', 'Maximum duration of the call, regardless of progress'),
      output: text('file', 'Write the result to a file'),
      answer: texts('name=value', 'Answer to an elicitation; repeatable'),
      raw: toggle('Print the unmodified result'),
    },
  },
  describe: {
    description: 'Show parameters, examples and token cost of a tool',
    usage: '<server> <tool>',
    takesServer: true,
    flags: serverFlags,
  },
  search: {
    description: 'Search tools by description',
    usage: '[<server>] <words …>',
    takesServer: true,
    flags: {
      ...serverFlags,
      limit: number('n', 'Maximum number of matches; default: 5'),
      all: toggle('Search all known servers'),
    },
  },
  tree: {
    description: 'Show servers, groups and tools with their token cost',
    usage: '[<server>]',
    takesServer: true,
    flags: serverFlags,
  },
  preview: {
    description: 'Show what a host sees of a server or of the running gateway',
    usage: '[<server>]',
    takesServer: true,
    flags: {
      ...previewFlags,
      host: {
        type: 'text',
        value: 'host',
        values: previewedHosts,
        description: `${previewedHosts.join(', ')}; default: an unknown client`,
      },
      era: text('session|2026-07-28|both', 'Protocol era; default: that of the host, or both without --host'),
    },
  },
  watch: {
    description: 'Print tool changes of a server as they happen',
    usage: '<server>',
    takesServer: true,
    flags: { ...serverFlags, count: number('n', 'Exit after n changes') },
  },
  identity: {
    description: 'Show or verify the identity of a server',
    usage: '<server>',
    takesServer: true,
    flags: {
      ...serverFlags,
      expect: text('uuid', 'Fail unless the identity matches'),
      basis: text('definitions|names', 'Data the identity is computed from; default: definitions'),
    },
  },
  generate: {
    description: 'Generate a command line and a typed client for a server',
    usage: '<server>',
    takesServer: true,
    flags: {
      ...serverFlags,
      output: text('folder', 'Output folder; default: ./<server>-cli'),
      force: toggle('Overwrite existing files'),
    },
  },
  plugins: {
    description: 'Serve a folder of tool plugins',
    usage: 'serve <folder>',
    flags: { http: text('port', 'Serve over HTTP instead of stdio') },
  },
  init: {
    description: 'Create a new MCP server project',
    usage: '[<folder>]',
    flags: { name: text('name', 'Server name; default: the folder name'), 'no-install': toggle('Skip npm install') },
  },
  login: {
    description: 'Sign in to a server',
    usage: '<server>',
    takesServer: true,
    flags: {
      ...serverFlags,
      'no-browser': toggle('Print the URL instead of opening it'),
      scope: text('scopes', 'OAuth scopes to request'),
      'client-id': text('id', 'OAuth client ID, or the https URL of a client ID metadata document'),
    },
  },
  logout: {
    description: 'Sign out of a server',
    usage: '<server>',
    takesServer: true,
    flags: serverFlags,
  },
  doctor: {
    description: 'Check Node, folders, configurations and servers',
    usage: '[<server>]',
    takesServer: true,
    flags: {
      ...serverFlags,
      offline: toggle('Do not connect to servers'),
      fix: toggle('Delete incomplete npx cache folders, after confirmation'),
    },
  },
  completion: {
    description: 'Print a shell completion script',
    usage: 'bash|zsh|fish',
    flags: {},
  },
}
