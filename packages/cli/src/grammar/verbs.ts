/** A flag of our own. */
export interface Flag {
  readonly type: 'switch' | 'text' | 'texts' | 'number'
  readonly about: string
  /** What stands for its value in the help. */
  readonly value?: string
  /** The values that it takes, where `value` does not list them. */
  readonly values?: readonly string[]
  readonly short?: string
}

export interface Verb {
  readonly about: string
  /** What may follow the verb, such as `<server> [<tool>]`. */
  readonly takes: string
  readonly flags: { readonly [name: string]: Flag }
  /** Whether the words after the server are a tool and its arguments. */
  readonly callsTool?: boolean
  /** How many words are ours, where what follows them is the command of another program. */
  readonly maxPositionals?: number
  /** Whether a server may be named, or be given after `--`. */
  readonly takesServer?: boolean
  /** Whether a server behind the gateway may be named. */
  readonly takesUpstream?: boolean
}

/** Flags that every verb takes. */
export const common: { readonly [name: string]: Flag } = {
  json: { type: 'switch', about: 'One JSON object on standard output' },
  jsonl: { type: 'switch', about: 'A JSON object a line, for what comes one after another' },
  quiet: { type: 'switch', short: 'q', about: 'Nothing on standard error but errors' },
  'no-color': { type: 'switch', about: 'No colours (also NO_COLOR)' },
  'no-input': { type: 'switch', about: 'Never ask; fail instead' },
  yes: { type: 'switch', short: 'y', about: 'Answer yes to what would be asked' },
  debug: { type: 'switch', about: 'Show stacks of errors, and what goes over the wire' },
  help: { type: 'switch', short: 'h', about: 'This help' },
}

/** Flags of the verbs that talk to a server. */
const serverFlags: { readonly [name: string]: Flag } = {
  timeout: {
    type: 'number',
    value: 'seconds',
    about: 'How long to wait for the server; default: 60, and 600 while npx, uvx, docker run … may be installing it',
  },
  header: { type: 'texts', value: 'name: value', about: 'A header for a server reached by address; may be repeated' },
  env: { type: 'texts', value: 'NAME=value', about: 'A variable for a server started by command; may be repeated' },
  config: { type: 'text', value: 'file', about: 'Read servers from this file alone' },
  server: { type: 'text', value: 'name', about: 'The server, so that tools come first (also UNFOLD_SERVER)' },
  protocol: { type: 'text', value: 'revision', about: 'auto, session or 2026-07-28' },
  'no-cache': { type: 'switch', about: 'Neither read nor write the cache of tools' },
}

// A preview decides by itself which protocol to speak, and never reads a cache.
const { protocol: _protocol, 'no-cache': _noCache, ...previewFlags } = serverFlags

const text = (value: string, about: string): Flag => ({ type: 'text', value, about })
const toggle = (about: string): Flag => ({ type: 'switch', about })

/** Flags of the verbs that change the configuration of a gateway. */
const editFlags: { readonly [name: string]: Flag } = {
  config: text('unfold.json file', 'The configuration to change; ./unfold.json or your own unless told'),
  'dry-run': toggle('Show what would change, and change nothing'),
}

/** Flags that say which gateway is meant, where several run. */
const runningFlags: { readonly [name: string]: Flag } = {
  config: text('unfold.json file', 'The gateway that runs with this configuration'),
  url: text('address', 'The gateway at this address'),
  pid: { type: 'number', value: 'number', about: 'The gateway with this process number' },
}

const importedClients =
  'claude|claude-desktop|cursor|vscode|codex|gemini|windsurf|kiro|copilot|opencode|qwen|zed|cline|cline-vscode|goose|junie|lmstudio|kilo|crush|kimi|amp|continue'
// Written out, because loading the table would slow down every completion; a test compares them.
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

/** Everything that can be asked for. */
export const verbs: { readonly [name: string]: Verb } = {
  serve: {
    about: 'Run the gateway: many servers behind one, for every client',
    takes: '[<file>]',
    flags: {
      http: { type: 'number', value: 'port', about: 'The port to serve on; that of the configuration (7420) unless told' },
      host: text(
        'address',
        'The address to serve on; default: that of the configuration (127.0.0.1). With --stdio: the host program, such as codex',
      ),
      stdio: toggle('Serve one client over standard input and output, through the gateway that runs if there is one'),
      standalone: toggle('With --stdio: start the servers in this process even if a gateway is running'),
      profile: text('name', 'The profile of that client, with --stdio; over HTTP: /mcp/<profile>'),
      exposure: text('name', 'How that client is shown the tools, with --stdio; over HTTP: /mcp?exposure=search'),
      view: text('groups=a,b', 'What that client sees first, with --stdio; over HTTP: /mcp?groups=a,b'),
      'log-level': text('debug|info|warn|error', 'What is written to standard error; info unless told, warn with --stdio'),
    },
  },
  add: {
    about: 'Put a server behind the gateway',
    takes: '<name> <address> | <name> [--] <command …>',
    maxPositionals: 2,
    flags: {
      env: { type: 'texts', value: 'NAME=value', about: 'A variable for its process; NAME alone passes on your own' },
      header: { type: 'texts', value: 'name: value', about: 'A header for its address; may be repeated' },
      about: text('words', 'What it is good for'),
      group: text('name', 'The group it lies in'),
      lazy: toggle('Start it at the first call'),
      disabled: toggle('Keep it in the file and do not use it'),
      force: toggle('Replace one of the same name'),
      ...editFlags,
    },
  },
  remove: {
    about: 'Take a server out of the gateway',
    takes: '<server>',
    takesUpstream: true,
    flags: editFlags,
  },
  import: {
    about: 'Put the servers of your other programs behind the gateway',
    takes: '[<name> …]',
    flags: {
      from: text(importedClients, 'Only what this program knows of; or the path of a file, to take over what it holds'),
      ...editFlags,
    },
  },
  token: {
    about: 'Create, list and revoke the tokens that clients send to the gateway',
    takes: 'add|list|revoke [<name>]',
    flags: { profile: text('name', 'With add: the only profile that the token opens; default: everything'), ...editFlags },
  },
  connect: {
    about: 'Connect a client to the gateway: one entry in its own configuration',
    takes: connectedClients,
    flags: {
      profile: text('name', 'The profile that the client gets'),
      token: text('token', 'The token that the client sends; see unfold token'),
      url: text('address', 'The address of the gateway; default: the one that runs, or that of the configuration'),
      stdio: toggle('Let the client start "unfold serve --stdio" instead of giving it an address'),
      exposure: text('name', 'auto, everything, native, groups, lazy or search; default: what suits the client'),
      'no-verify': toggle('Do not connect with the new entry to try it'),
      config: text('unfold.json file', 'The configuration of the gateway'),
      'dry-run': toggle('Show what would change, and change nothing'),
    },
  },
  disconnect: {
    about: 'Take that entry out again',
    takes: connectedClients,
    flags: { 'dry-run': toggle('Show what would change, and change nothing') },
  },
  status: {
    about: 'What the running gateway is doing: servers, clients, tokens saved; or all about one server',
    takes: '[<server>]',
    takesUpstream: true,
    flags: { watch: toggle('Go on showing it'), ...runningFlags },
  },
  logs: {
    about: 'What the running gateway wrote to its log, about all servers or one',
    takes: '[<server>]',
    takesUpstream: true,
    flags: {
      follow: { type: 'switch', short: 'f', about: 'Go on showing what comes' },
      upstream: text('name', 'The same as naming the server'),
      level: text('debug|info|warn|error', 'From this level on'),
      stderr: toggle('What servers wrote to standard error, instead of the log'),
      limit: { type: 'number', value: 'n', about: 'How many lines; 100 unless told' },
      ...runningFlags,
    },
  },
  reload: {
    about: 'Make the running gateway read its configuration now',
    takes: '',
    flags: runningFlags,
  },
  restart: {
    about: 'Start a server behind the running gateway anew',
    takes: '<server>',
    takesUpstream: true,
    flags: runningFlags,
  },
  enable: {
    about: 'Use a server again that was disabled',
    takes: '<server>',
    takesUpstream: true,
    flags: editFlags,
  },
  disable: {
    about: 'Keep a server in the configuration, and do not use it',
    takes: '<server>',
    takesUpstream: true,
    flags: editFlags,
  },
  list: {
    about: 'List the tools of a server with their parameters, or the servers that were found',
    takes: '[<server>]',
    takesServer: true,
    flags: { ...serverFlags, schemas: toggle('With their whole schemas'), names: toggle('Names alone, one a line') },
  },
  call: {
    about: 'Call a tool; without one, choose from a list',
    takes: '<server> [<tool>] [--flag value …]',
    takesServer: true,
    callsTool: true,
    flags: {
      ...serverFlags,
      args: { type: 'texts', value: 'json|@file|-', about: 'All arguments at once' },
      'max-time': {
        type: 'number',
        value: 'seconds',
        about: 'How long a call may take in all, however often it reports progress',
      },
      output: text('file', 'Write the result there'),
      answer: { type: 'texts', value: 'name=value', about: 'An answer to what the tool may ask; may be repeated' },
      raw: toggle('The result as the server gave it'),
    },
  },
  describe: {
    about: 'Everything about one tool: parameters, examples, cost',
    takes: '<server> <tool>',
    takesServer: true,
    flags: serverFlags,
  },
  search: {
    about: 'Find tools by what they do, in one server or in all',
    takes: '[<server>] <words …>',
    takesServer: true,
    flags: {
      ...serverFlags,
      limit: { type: 'number', value: 'n', about: 'How many to show; 5 unless told' },
      all: toggle('In every configured server'),
    },
  },
  tree: {
    about: 'Servers, groups and tools as a tree, with what they cost',
    takes: '[<server>]',
    takesServer: true,
    flags: serverFlags,
  },
  preview: {
    about: 'Show what a host would see of a server, or of the running gateway: tools, tokens, steps, warnings',
    takes: '[<server>]',
    takesServer: true,
    flags: {
      ...previewFlags,
      host: {
        type: 'text',
        value: 'host',
        values: previewedHosts,
        about: `As this host: ${previewedHosts.join(', ')}. Default: a client about which nothing is known`,
      },
      era: text('session|2026-07-28|both', 'The protocol era. Default: the one that the host uses; without a host, both'),
    },
  },
  watch: {
    about: "Show changes of a server's tools as they happen",
    takes: '<server>',
    takesServer: true,
    flags: { ...serverFlags, count: { type: 'number', value: 'n', about: 'Stop after so many changes' } },
  },
  identity: {
    about: 'The identity of what a server offers',
    takes: '<server>',
    takesServer: true,
    flags: {
      ...serverFlags,
      expect: text('uuid', 'Fail unless it is this one'),
      basis: text('definitions|names', 'What it is made from'),
    },
  },
  generate: {
    about: 'Write a command line and a typed client for a server',
    takes: '<server>',
    takesServer: true,
    flags: {
      ...serverFlags,
      output: text('folder', 'Where to; ./<server>-cli unless told'),
      force: toggle('Replace what is there'),
    },
  },
  plugins: {
    about: 'Serve a folder of tool plugins',
    takes: 'serve <folder>',
    flags: { http: text('port', 'Serve over HTTP instead of standard input and output') },
  },
  init: {
    about: 'Begin a server of your own that runs at once',
    takes: '[<folder>]',
    flags: { name: text('name', 'What to call it'), 'no-install': toggle('Do not install dependencies') },
  },
  login: {
    about: 'Sign in to a server that asks for it',
    takes: '<server>',
    takesServer: true,
    flags: {
      ...serverFlags,
      'no-browser': toggle('Print the address instead of opening it'),
      scope: text('scopes', 'What to ask for'),
      'client-id': text('id', 'A client that is registered there, or the https address of a document that describes it'),
    },
  },
  logout: {
    about: 'Forget a sign-in',
    takes: '<server>',
    takesServer: true,
    flags: serverFlags,
  },
  doctor: {
    about: 'Check this machine, your configurations and every server in them',
    takes: '[<server>]',
    takesServer: true,
    flags: {
      ...serverFlags,
      offline: toggle('Do not connect to servers'),
      fix: toggle('Delete folders of the cache of npx that are incomplete, after asking'),
    },
  },
  completion: {
    about: 'Print completions for a shell',
    takes: 'bash|zsh|fish',
    flags: {},
  },
}
