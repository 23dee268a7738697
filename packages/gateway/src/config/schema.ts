import { isIP } from 'node:net'
import { hostProfiles } from '@unfold-mcp/core'
import * as z from 'zod'
import { mcpPath, serverSegment } from '../base/mcp-path.ts'
import { isReserved } from '../names/reserved.ts'
import { policy, policyKeysAt } from './policy/schema.ts'

// The maximum is that of a Node timer.
const ms = z.int().min(0).max(2_147_483_647)
const count = z.int().min(1)
const name = z.string().min(1, 'is empty').max(100, 'is longer than 100 characters')
const description = z.string().max(2_000, 'is longer than 2,000 characters')
const nul = '\0'
const noNul = z.string().refine((text) => !text.includes(nul), 'contains a NUL character')

const mode = z.enum(['auto', 'everything', 'native', 'groups', 'lazy', 'search', 'code'])

const budgetTokens = count.max(10_000_000)

// The same keys as in the library.
const presentation = {
  callVariants: z
    .boolean()
    .describe(
      'Splits call_tool into call_tool_read, call_tool_write and call_tool_destructive, for clients that approve tools by name',
    ),
  code: z.boolean().describe('Lists run_code too. It is always listed in code mode'),
  order: z.enum(['declared', 'append']).describe('append keeps the position of every tool within a session, for prompt caches'),
  hostHints: z.boolean().describe('Adds anthropic/alwaysLoad and anthropic/searchHint to _meta. Default: only in native mode'),
  host: z.enum(hostProfiles.map(({ id }) => id)).describe('Treats every client as this host'),
}

const exposure = z.union([
  mode,
  z.strictObject({
    mode: mode.optional(),
    budgetTokens: budgetTokens.optional(),
    ...z.strictObject(presentation).partial().shape,
  }),
])

const codeLimits = z.strictObject({
  cpuMs: ms.min(10).max(600_000).default(5_000).describe('CPU time'),
  wallMs: ms.min(100).default(300_000).describe('Time from start to end, without the time that a person takes to answer'),
  memoryBytes: z.int().min(8_388_608).max(1_073_741_824).default(67_108_864),
  calls: count.max(100_000).default(500),
  parallelCalls: count.max(256).default(8).describe('Calls that run at the same time'),
  outputCharacters: count.max(1_000_000).default(20_000).describe('Console output that is kept'),
  resultBytes: count.max(67_108_864).default(200_000),
  answerMs: ms.min(1_000).max(86_400_000).default(600_000).describe('How long a script waits for the answer of a person'),
})

const code = z.strictObject({
  listed: z.boolean().default(true).describe('false lists run_code in code mode only'),
  confirm: z
    .enum(['writes', 'destructive', 'never'])
    .default('writes')
    .describe(
      'Calls of scripts that a person confirms, unless a policy rule decides: writes (of all tools that are not annotated as read-only in an accepted definition), destructive (annotated as destructive), or never',
    ),
  limits: codeLimits.default(codeLimits.parse({})).describe('Limits of one script'),
})

const remember = z
  .enum(['session', 'reconnect', 'principal'])
  .describe(
    'How long activated tools are remembered: session; reconnect (the next session of the same token starts with them); principal (all sessions and requests of a token share them)',
  )

const embedder = z.strictObject({
  url: z.string().min(1, 'is empty').describe('OpenAI-compatible endpoint, such as https://api.openai.com/v1'),
  model: z.string().min(1, 'is empty').max(200, 'is longer than 200 characters'),
  apiKey: z.string().optional().describe('Sent as a bearer token. Use a variable to keep it out of the file'),
})

const search = z.strictObject({
  embedder: embedder
    .optional()
    .describe('Enables semantic search. Tool names, descriptions and queries are sent to this endpoint'),
  minConfidence: z
    .number()
    .min(0)
    .max(1)
    .default(0.42)
    .describe('Confidence below which a search has no match. Lower: more answers, more of them wrong'),
  deadlineMs: ms.min(1).default(300).describe('How long a search waits for the embedder before it uses the built-in table'),
  learn: z.boolean().default(false).describe('Ranks tools higher that were called after similar searches with the same token'),
})

const patterns = z.array(z.string().min(1, 'is empty').max(200, 'is longer than 200 characters'))

const override = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/u, 'must be 1 to 64 letters, digits, underscores or hyphens')
    .refine((value) => !value.includes('__'), 'must not contain "__", which separates server and tool')
    .refine((value) => !isReserved(value), 'is reserved for the gateway, or too similar to a reserved name')
    .optional()
    .describe('Name shown to clients instead of server__tool'),
  description: z.string().max(10_000).optional().describe('Description shown to clients instead of the tool’s own'),
  enabled: z.boolean().optional().describe('false hides the tool from all clients'),
  pinned: z.boolean().optional().describe('true lists the tool in every exposure mode'),
})

const processes = z
  .enum(['tree', 'group', 'namespace'])
  .describe(
    'Processes that end with a server: tree (its process group and, on Linux, descendants that left it), group, or namespace (Linux with bubblewrap: all of them, but setuid programs such as sudo do not work)',
  )

const sandboxPreset = z
  .enum(['none', 'files', 'strict'])
  .describe(
    'none; files (reads everything except home folders, writes nothing, network on); strict (reads system folders and its own program, network off)',
  )

const sandboxFolders = z.array(noNul.min(1, 'is empty').max(4_096, 'is longer than 4,096 characters'))

const sandboxSettings = z.strictObject({
  preset: sandboxPreset.optional().describe('Default for a server: the preset of the file'),
  read: sandboxFolders.default([]).describe('Folders and files that it may read, relative to the folder of this file'),
  write: sandboxFolders.default([]).describe('Folders and files that it may read and write, relative to the folder of this file'),
  network: z.boolean().optional().describe('Default: true for files, false for strict'),
})

const sandbox = z.union([sandboxPreset, sandboxSettings])

const trust = z
  .enum(['off', 'watch', 'pin', 'review'])
  .describe(
    'How new and changed tools are treated. watch: served, unless a rule classifies the change as hazardous; pin: held until a person approves them; review: the first list needs approval too; off: served',
  )

const inspection = {
  instructions: z
    .enum(['off', 'flag', 'block'])
    .describe('Results with text that addresses the model. flag: reported and marked in _meta; block: replaced by an error'),
  secrets: z
    .enum(['off', 'flag', 'mask', 'block'])
    .describe(
      'Results with secrets. flag: secrets of this file are masked, others are reported; mask: all known formats are masked; block: replaced by an error',
    ),
}

// Settings that unfold adds to the usual server definition.
const serverSettings = {
  disabled: z.boolean().default(false).describe('true keeps the server in the file without using it'),
  description: description.optional().describe('Purpose of the server, instead of a description derived from its tools'),
  group: name.optional().describe('Group that contains the server'),
  tools: z.record(z.string(), override).default({}).describe('Overrides for single tools, by their names on the server'),
  allow: patterns.optional().describe('Only these tools; * matches any characters'),
  deny: patterns.default([]).describe('Excludes these tools; * matches any characters'),
  preferResources: patterns
    .default([])
    .describe('URIs of resources that other servers have too and that are read from this one; * matches any characters'),
  trust: trust.optional(),
  results: z.strictObject(inspection).partial().optional().describe('Overrides of results for this server'),
  start: z.enum(['eager', 'lazy']).default('eager').describe('lazy starts the server on the first call'),
  idleStopMs: ms.default(0).describe('Stops the server after this time without calls; 0: never'),
  startTimeoutMs: ms.min(100).default(30_000).describe('Timeout for starting the server'),
  sweepMs: ms.default(300_000).describe('Interval for listing its tools even if it announced no change; 0: never'),
  graceMs: ms.default(5_000).describe('How long its tools stay listed after the connection is lost'),
  pingMs: ms.default(30_000).describe('Ping interval while the connection is idle; 0: never'),
  concurrency: count.max(1_000).default(64).describe('Maximum number of concurrent calls'),
  queue: z.int().min(0).max(100_000).default(256).describe('Maximum number of queued calls'),
  timeoutMs: ms.min(100).default(60_000).describe('Timeout of a call; progress notifications reset it'),
}

const commandServer = z.strictObject({
  type: z.literal('stdio').optional(),
  command: noNul.min(1, 'is empty').describe('Program to start, without a shell'),
  args: z.array(noNul).default([]),
  env: z
    .record(
      z.string().refine((text) => text !== '' && !/[=]/u.test(text) && !text.includes(nul), 'is not a valid variable name'),
      noNul,
    )
    .default({})
    .describe('Added to an allow-listed subset of the environment'),
  cwd: noNul
    .min(1, 'is empty')
    .optional()
    .describe('Working directory, relative to the folder of this file. Default: that folder'),
  installTimeoutMs: ms
    .min(100)
    .default(600_000)
    .describe('Timeout for the first message of npx, uvx, docker run and similar, which may have to install the server'),
  processes: processes.optional().describe('Processes that end with this server. Default: processes of the file'),
  sandbox: sandbox
    .optional()
    .describe('Limits what the server can read, write and connect to (Linux with bubblewrap). Default: sandbox of the file'),
  placement: z
    .enum(['each', 'one'])
    .default('each')
    .describe('Where a server runs if there are several replicas: each (all of them start it) or one (for servers with state)'),
  ...serverSettings,
})

const urlServer = z.strictObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp', 'sse']).optional().describe('Detected if omitted'),
  url: z.string().min(1, 'is empty').describe('http or https URL of the server'),
  headers: z
    .record(
      z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u, 'is not a valid header name'),
      noNul.regex(/^[^\r\n]*$/u, 'contains a line break'),
    )
    .default({}),
  follow: z
    .enum(['each', 'one'])
    .default('each')
    .describe('Which of several replicas list its tools after a change: each, or one (the others take over its list)'),
  ...serverSettings,
})

/** The folder of stored scripts as a server. It is not written like this: `scripts` of the file describes it. */
const scriptServer = z.strictObject({ scripts: z.string(), ...serverSettings })

const scripts = z.strictObject({
  folder: noNul.min(1, 'is empty').default('scripts').describe('Folder with the scripts, relative to the folder of this file'),
  trust: trust
    .default('review')
    .describe('How new and changed scripts are treated, like trust of a server. review: they wait for approval'),
  grants: z
    .record(z.string().min(1, 'is empty').max(200, 'is longer than 200 characters'), patterns)
    .default({})
    .describe(
      'Tools that a script may call although its caller may not: name of the script to exposed names of tools; * matches any characters',
    ),
})

const group = z.strictObject({
  description: description.min(1, 'is empty').describe('Tells the model what the group is for'),
  servers: z.array(z.string()).default([]),
  groups: z.array(z.string()).default([]).describe('Subgroups'),
})

const profile = z.strictObject({
  servers: z.array(z.string()).optional(),
  groups: z.array(z.string()).optional(),
  tools: patterns.optional().describe('Tools by exposed name; * matches any characters'),
  except: patterns.default([]).describe('Excluded tools'),
  exposure: exposure.optional(),
  budgetTokens: budgetTokens.optional(),
  ...z.strictObject(presentation).partial().shape,
  remember: remember.optional(),
  search: search.optional().describe('Replaces the search settings of the file'),
})

/** Roles of tokens for people and monitoring, each with the rights of the ones before it. */
export const roles = ['metrics', 'viewer', 'reviewer', 'operator', 'admin'] as const

export type Role = (typeof roles)[number]

const token = z.strictObject({
  name,
  hash: z.string().regex(/^sha256:[0-9a-f]{64}$/u, 'must be "sha256:" followed by 64 hexadecimal digits'),
  profile: z.string().optional().describe('Restricts the token to this profile. Default: no restriction'),
  role: z
    .enum(roles)
    .optional()
    .describe(
      'For the metrics and the admin API instead of MCP: metrics (GET /metrics), viewer (reads everything), reviewer (also approves), operator (also restarts and reloads), admin (everything)',
    ),
})

function isNetwork(text: string): boolean {
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/u.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128)
}

const listen = z.strictObject({
  host: z.string().min(1, 'is empty').default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(7420),
  allowedHosts: z
    .array(z.string().regex(/^[^\s/@]{1,253}$/u, 'must be a host name without a port'))
    .default([])
    .describe('Additional host names accepted in the Host header'),
  allowedOrigins: z
    .array(z.string().regex(/^https?:\/\/[^\s/]{1,253}$/u, 'must be an origin such as https://app.example'))
    .default([])
    .describe('Additional origins whose pages may connect'),
  trustedProxies: z
    .array(z.string().refine(isNetwork, 'must be an IP address or a network such as 10.0.0.0/8'))
    .default([])
    .describe('Reverse proxies whose X-Forwarded-For or Forwarded header gives the address of the client'),
  dashboard: z.boolean().default(true).describe('false does not serve the web dashboard at /ui; the admin API stays'),
})

const store = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sqlite'),
    path: noNul.min(1, 'is empty').optional().describe('Relative to the folder of this file. Default: in the user’s data folder'),
  }),
  z.strictObject({ kind: z.literal('memory') }),
])

const cluster = z.strictObject({
  url: z
    .string()
    .min(1, 'is empty')
    .optional()
    .describe(
      'Redis or Valkey that all replicas share: redis://host:port/database, rediss:// (TLS), redis+sentinel://host,host/master or redis+cluster://host,host. Default: UNFOLD_CLUSTER_URL',
    ),
  secret: z
    .string()
    .min(1, 'is empty')
    .optional()
    .describe('At least 32 characters, the same on all replicas. Default: UNFOLD_CLUSTER_SECRET'),
  prefix: z
    .string()
    .regex(/^[\w.:/-]{1,100}$/u, 'must be 1 to 100 letters, digits, or characters of "_.:/-"')
    .optional()
    .describe('Start of all keys and channels in Redis. Default: UNFOLD_CLUSTER_PREFIX, or unfold:'),
  advertise: z
    .string()
    .min(1, 'is empty')
    .optional()
    .describe('URL at which other replicas reach this one. Default: host and port of listen'),
  leaseMs: ms
    .min(1_000)
    .max(300_000)
    .default(10_000)
    .describe('How long a replica that died keeps a server with "placement": "one" from starting elsewhere'),
  drainMs: ms
    .max(300_000)
    .default(5_000)
    .describe('After SIGTERM, a replica serves for this time while /readyz replies 503, until load balancers have noticed'),
})

/** Settings of a cluster that only the environment configures. */
export const defaultCluster = cluster.parse({})

const auditArguments = z.enum(['omit', 'hash', 'mask', 'full'])

export type AuditArguments = z.output<typeof auditArguments>

const audit = z.strictObject({
  path: noNul
    .min(1, 'is empty')
    .describe('JSON Lines file with one record per call and change, relative to the folder of this file'),
  onFailure: z
    .enum(['serve', 'refuse'])
    .default('serve')
    .describe('If the file cannot be written: serve continues without it, refuse rejects calls'),
  arguments: auditArguments
    .default('omit')
    .describe(
      'Arguments of calls: omit; hash (SHA-256); mask (also their structure, without texts and numbers); full (also their values, without known secrets)',
    ),
  tools: z
    .record(z.string().min(1, 'is empty').max(200, 'is longer than 200 characters'), auditArguments)
    .default({})
    .describe('arguments for single tools, by exposed name; * matches any characters, and the first match applies'),
  maxBytes: z.int().min(1_024).max(1_099_511_627_776).optional().describe('Size at which the file is rotated. Default: never'),
  keep: count.max(10_000).default(10).describe('Rotated files to keep'),
})

const results = z.strictObject({
  maxCharacters: z
    .int()
    .min(1_000)
    .max(10_000_000)
    .default(50_000)
    .describe('Longer results are truncated; read_result returns the rest'),
  instructions: inspection.instructions.default('flag'),
  secrets: inspection.secrets.default('flag'),
})

const limits = z.strictObject({
  bodyBytes: z.int().min(1_024).max(268_435_456).default(4_194_304),
  depth: count.max(1_000).default(100),
  elements: count.max(10_000_000).default(100_000),
  callsPerMinute: count.max(1_000_000).default(6_000).describe('Per client'),
  calls: count.max(1_000_000).default(2_048).describe('Running and queued calls of all clients'),
  sessions: count.max(100_000).default(1_000).describe('Of all clients; one client gets at most three quarters'),
  subscriptions: count.max(100_000).default(1_024).describe('Of all clients; one client gets at most three quarters'),
  stallTimeoutMs: ms.min(100).default(30_000).describe('Disconnects a client that accepts no part of a reply for this long'),
  unsentBytes: z
    .int()
    .min(1_048_576)
    .max(68_719_476_736)
    .default(268_435_456)
    .describe('Replies that clients have not accepted yet, in total. Above it, the slowest clients are disconnected'),
  tools: count.max(1_000_000).default(10_000).describe('Per server; additional tools are ignored'),
})

export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  mcpServers: z.record(name, z.union([commandServer, urlServer])).default({}),
  exposure: exposure.default('auto'),
  budgetTokens: budgetTokens.default(8_000).describe('In auto mode, every tool is listed up to this many tokens'),
  ...z.strictObject(presentation).partial().shape,
  code: z
    .union([z.boolean(), code])
    .optional()
    .describe(
      'Scripts over the tools (run_code): true or settings list it in every mode, false turns it off. Default: in code mode only',
    ),
  scripts: z
    .union([z.literal(false), scripts])
    .optional()
    .describe(
      'Scripts that are offered as tools, *.ts and *.js. Default: those in the folder "scripts" next to this file; false: none',
    ),
  remember: remember.default('session'),
  trust: trust.default('watch'),
  policy: policy.optional().describe('Rules for calls: allow, deny or ask a person'),
  search: search.default(search.parse({})).describe('Semantic search and learning'),
  groups: z
    .record(
      z
        .string()
        .regex(
          /^[A-Za-z0-9][A-Za-z0-9_-]{0,54}$/u,
          'must be 1 to 55 letters, digits, underscores or hyphens, starting with a letter or digit',
        ),
      group,
    )
    .default({}),
  profiles: z
    .record(
      z
        .string()
        .regex(
          /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/u,
          'must be 1 to 64 letters, digits, underscores or hyphens, starting with a letter or digit',
        )
        .regex(
          new RegExp(`^(?!${serverSegment}$)`, 'u'),
          `is reserved for ${mcpPath}/${serverSegment}/<server>. Rename the profile`,
        ),
      profile,
    )
    .default({}),
  processes: processes.default('tree'),
  sandbox: sandbox.default('none').describe('Limits of all servers that are started as processes (Linux with bubblewrap)'),
  tokens: z.array(token).default([]),
  listen: listen.default(listen.parse({})),
  reload: z
    .enum(['ask', 'always'])
    .default('ask')
    .describe(
      'Edits of this file while the gateway runs. ask: what would start something new or weaken a protection waits for approval; always: everything applies at once',
    ),
  store: store.default({ kind: 'sqlite' }),
  cluster: cluster.optional().describe('Several replicas of the gateway as one'),
  audit: audit.optional().describe('Audit log of calls and changes'),
  results: results.default(results.parse({})),
  limits: limits.default(limits.parse({})),
})

/** A configuration as written, with defaults. */
export type FileConfig = z.output<typeof configSchema>

/** A configuration in use: the folder of stored scripts is one of its servers. */
export type Config = Omit<FileConfig, 'mcpServers'> & { readonly mcpServers: { readonly [name: string]: ServerConfig } }
export type CommandServer = z.output<typeof commandServer>
export type UrlServer = z.output<typeof urlServer>
export type ScriptServer = z.output<typeof scriptServer>
export type ServerConfig = CommandServer | UrlServer | ScriptServer
export type ToolOverride = z.output<typeof override>
export type Profile = z.output<typeof profile>
export type TokenRecord = z.output<typeof token>
export type SearchConfig = z.output<typeof search>
export type ClusterConfig = z.output<typeof cluster>
export type SandboxConfig = z.output<typeof sandbox>

export const isCommandServer = (server: ServerConfig): server is CommandServer => 'command' in server

export const isUrlServer = (server: ServerConfig): server is UrlServer => 'url' in server

export const isScriptServer = (server: ServerConfig): server is ScriptServer => 'scripts' in server

/** Name of the server that offers the stored scripts. */
export const scriptServerName = 'scripts'

const defaultScripts = scripts.parse({})

/** Settings of the stored scripts; `undefined` if there are none. */
export function scriptSettings({ scripts: given = defaultScripts, code: scriptsRun }: Pick<Config, 'scripts' | 'code'>) {
  return given === false || scriptsRun === false ? undefined : given
}

/** Adds the folder of stored scripts as a server, unless another server has its name. */
export function withScriptServer(config: Config): Config {
  const settings = scriptSettings(config)
  if (settings === undefined || Object.hasOwn(config.mcpServers, scriptServerName)) return config
  const { folder, trust: trustOfScripts } = settings
  const server = scriptServer.parse({
    scripts: folder,
    trust: trustOfScripts,
    description: 'Stored scripts that use the tools of the other servers',
    pingMs: 0,
    sweepMs: 0,
  })
  return { ...config, mcpServers: { ...config.mcpServers, [scriptServerName]: server } }
}

const shapes = {
  top: Object.keys(configSchema.shape),
  command: Object.keys(commandServer.shape),
  url: Object.keys(urlServer.shape),
  tool: Object.keys(override.shape),
  group: Object.keys(group.shape),
  profile: Object.keys(profile.shape),
  search: Object.keys(search.shape),
  embedder: Object.keys(embedder.shape),
  token: Object.keys(token.shape),
  listen: Object.keys(listen.shape),
  store: ['kind', 'path'],
  cluster: Object.keys(cluster.shape),
  audit: Object.keys(audit.shape),
  results: Object.keys(results.shape),
  limits: Object.keys(limits.shape),
  code: Object.keys(code.shape),
  scripts: Object.keys(scripts.shape),
} as const

const sandboxKeys = Object.keys(sandboxSettings.shape)

const exposureKeys = ['mode', 'budgetTokens', ...Object.keys(presentation)]

const sections = ['search', 'listen', 'store', 'cluster', 'audit', 'results', 'limits', 'code', 'scripts'] as const

/** Returns the allowed keys of the object at `path`. `isUrl` selects the kind of server. */
export function keysAt(path: readonly PropertyKey[], isUrl: boolean): readonly string[] {
  const [first, , third] = path
  if (path.length === 0) return shapes.top
  if (path.at(-1) === 'exposure' && (path.length === 1 || (path.length === 3 && first === 'profiles'))) return exposureKeys
  if (path.at(-1) === 'sandbox' && (path.length === 1 || (path.length === 3 && first === 'mcpServers'))) return sandboxKeys
  if (first === 'policy') return policyKeysAt(path)
  if (first === 'mcpServers' && path.length === 3 && third === 'results') return Object.keys(inspection)
  if (first === 'mcpServers') {
    if (path.length === 2) return isUrl ? shapes.url : shapes.command
    return path.length === 4 && third === 'tools' ? shapes.tool : []
  }
  if (path.length === 2 && first === 'groups') return shapes.group
  if (first === 'profiles' && path.length > 2) return third === 'search' ? keysAt(path.slice(2), isUrl) : []
  if (path.length === 2 && first === 'profiles') return shapes.profile
  if (path.length === 2 && first === 'search' && path[1] === 'embedder') return shapes.embedder
  if (path.length === 2 && first === 'code' && path[1] === 'limits') return Object.keys(codeLimits.shape)
  if (path.length === 2 && first === 'tokens') return shapes.token
  const section = path.length === 1 ? sections.find((each) => each === first) : undefined
  return section === undefined ? [] : shapes[section]
}
