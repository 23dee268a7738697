import { hostProfiles } from '@unfold-mcp/core'
import { z } from 'zod'
import { mcpPath, serverSegment } from '../base/mcp-path.ts'
import { isReserved } from '../names/reserved.ts'

/** A length of time; none is so long that a timer could not hold it. */
const ms = z.int().min(0).max(2_147_483_647)
const count = z.int().min(1)
const name = z.string().min(1, 'is empty').max(100, 'is longer than 100 characters')
const about = z.string().max(2_000, 'is longer than 2,000 characters')
const nul = '\0'
const noNul = z.string().refine((text) => !text.includes(nul), 'holds a NUL character')

const mode = z.enum(['auto', 'everything', 'native', 'groups', 'lazy', 'search'])

const budgetTokens = count.max(10_000_000)

/** How tools are presented; the same keys as in the library. */
const presentation = {
  callVariants: z
    .boolean()
    .describe('call_tool_read, call_tool_write and call_tool_destructive instead of call_tool, for clients that approve by name'),
  order: z.enum(['declared', 'append']).describe('append keeps every tool where a client first saw it, for prompt caches'),
  hostHints: z.boolean().describe('Adds anthropic/alwaysLoad and anthropic/searchHint to _meta. Default: only with native'),
  host: z.enum(hostProfiles.map(({ id }) => id)).describe('Treats every client as this host, whatever it calls itself'),
}

/** How clients are presented the tools: a mode, or a mode with its settings. */
const exposure = z.union([
  mode,
  z.strictObject({
    mode: mode.optional(),
    budgetTokens: budgetTokens.optional(),
    ...z.strictObject(presentation).partial().shape,
  }),
])

const remember = z
  .enum(['session', 'reconnect', 'principal'])
  .describe(
    'How long activated tools are kept: session; reconnect, where the next session of the same token starts with them; or principal, where all sessions and requests of a token share them',
  )

const embedder = z.strictObject({
  url: z.string().min(1, 'is empty').describe('An endpoint that is compatible with OpenAI, such as https://api.openai.com/v1'),
  model: z.string().min(1, 'is empty').max(200, 'is longer than 200 characters'),
  apiKey: z.string().optional().describe('Sent as a bearer token; a variable keeps it out of the file'),
})

const search = z.strictObject({
  embedder: embedder.optional().describe('Also finds tools by meaning. Names, descriptions and queries are sent to it'),
  deadlineMs: ms.min(1).default(300).describe('How long a search waits for the embedder before it goes by words alone'),
  learn: z.boolean().default(false).describe('Raises tools that were called after similar searches of the same token'),
})

/** Names of tools; `*` stands for any characters. */
const patterns = z.array(z.string().min(1, 'is empty').max(200, 'is longer than 200 characters'))

const override = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/u, 'must be 1 to 64 letters, digits, underscores and hyphens')
    .refine((value) => !value.includes('__'), 'must not hold "__", which stands between a server and its tool')
    .refine((value) => !isReserved(value), 'is a name of the gateway’s own tools, or looks like one')
    .optional()
    .describe('The name clients see, in place of server__tool'),
  description: z.string().max(10_000).optional().describe('The description clients see, in place of the tool’s own'),
  enabled: z.boolean().optional().describe('false hides the tool from everybody'),
  pinned: z.boolean().optional().describe('true shows the tool however the rest is shown'),
})

/** What we add to the definition of a server. */
const ours = {
  disabled: z.boolean().default(false).describe('true keeps the server in the file and does not use it'),
  about: about.optional().describe('What the server is good for, in place of a description made from its tools'),
  group: name.optional().describe('The group it lies in'),
  tools: z.record(z.string(), override).default({}).describe('Changes to single tools, by the server’s own names for them'),
  allow: patterns.optional().describe('Only these tools; * stands for any characters'),
  deny: patterns.default([]).describe('Not these tools; * stands for any characters'),
  start: z.enum(['eager', 'lazy']).default('eager').describe('lazy starts the server at the first call'),
  idleStopMs: ms.default(0).describe('Stops the server when nobody called it for so long; 0 for never'),
  startTimeoutMs: ms.min(100).default(30_000).describe('How long it may take to start'),
  sweepMs: ms.default(300_000).describe('How often its tools are listed even if it announced no change; 0 for never'),
  graceMs: ms.default(5_000).describe('How long its tools stay listed when it is lost'),
  pingMs: ms.default(30_000).describe('How often it is asked for a sign of life when nothing is heard of it; 0 for never'),
  concurrency: count.max(1_000).default(64).describe('How many calls it gets at once'),
  queue: z.int().min(0).max(100_000).default(256).describe('How many more calls may wait'),
  timeoutMs: ms.min(100).default(60_000).describe('How long a call may take without a sign of life'),
}

const commandServer = z.strictObject({
  type: z.literal('stdio').optional(),
  command: noNul.min(1, 'is empty').describe('The program to start. No shell reads it'),
  args: z.array(noNul).default([]),
  env: z
    .record(
      z.string().refine((text) => text !== '' && !/[=]/u.test(text) && !text.includes(nul), 'cannot be the name of a variable'),
      noNul,
    )
    .default({})
    .describe('Added to a small safe part of the environment'),
  cwd: noNul.min(1, 'is empty').optional().describe('Seen from the folder of this file, which is also the default'),
  installTimeoutMs: ms
    .min(100)
    .default(600_000)
    .describe('How long npx, uvx, docker run and the like may take until the first message: they may have to install the server'),
  ...ours,
})

const urlServer = z.strictObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp', 'sse']).optional().describe('Found out when it is left out'),
  url: z.string().min(1, 'is empty').describe('Where the server is: http or https'),
  headers: z
    .record(
      z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u, 'cannot be the name of a header'),
      noNul.regex(/^[^\r\n]*$/u, 'holds a line break'),
    )
    .default({}),
  ...ours,
})

const group = z.strictObject({
  about: about.min(1, 'is empty').describe('What a model gains by opening the group'),
  servers: z.array(z.string()).default([]),
  groups: z.array(z.string()).default([]).describe('Groups that lie in this one'),
})

const profile = z.strictObject({
  servers: z.array(z.string()).optional(),
  groups: z.array(z.string()).optional(),
  tools: patterns.optional().describe('Tools by the names clients see; * stands for any characters'),
  except: patterns.default([]).describe('Tools that are left out of all that'),
  exposure: exposure.optional(),
  budgetTokens: budgetTokens.optional(),
  ...z.strictObject(presentation).partial().shape,
  remember: remember.optional(),
  search: search.optional().describe('In place of the search settings of the whole file'),
})

const token = z.strictObject({
  name,
  hash: z.string().regex(/^sha256:[0-9a-f]{64}$/u, 'must be "sha256:" and 64 hexadecimal digits'),
  profile: z.string().optional().describe('All that whoever holds the token can see; everything when it is left out'),
})

const listen = z.strictObject({
  host: z.string().min(1, 'is empty').default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(7420),
  allowedHosts: z
    .array(z.string().regex(/^[^\s/@]{1,253}$/u, 'must be the name of a host, without a port'))
    .default([])
    .describe('Names, beside those of this machine, by which it may be reached'),
  allowedOrigins: z
    .array(z.string().regex(/^https?:\/\/[^\s/]{1,253}$/u, 'must be an origin, such as https://app.example'))
    .default([])
    .describe('Sites, beside those of this machine, whose pages may use it'),
})

const store = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sqlite'),
    path: noNul.min(1, 'is empty').optional().describe('Seen from the folder of this file; among the user’s data by default'),
  }),
  z.strictObject({ kind: z.literal('memory') }),
])

const audit = z.strictObject({
  path: noNul
    .min(1, 'is empty')
    .describe('A file that every call is written to, a line of JSON each; seen from the folder of this file'),
  onFailure: z
    .enum(['serve', 'refuse'])
    .default('serve')
    .describe('When it cannot be written: serve makes calls all the same, refuse makes none that is not written down before'),
})

const results = z.strictObject({
  maxCharacters: z
    .int()
    .min(1_000)
    .max(10_000_000)
    .default(50_000)
    .describe('What is longer is cut, and read on with read_result'),
})

const limits = z.strictObject({
  bodyBytes: z.int().min(1_024).max(268_435_456).default(4_194_304),
  depth: count.max(1_000).default(100),
  elements: count.max(10_000_000).default(100_000),
  callsPerMinute: count.max(1_000_000).default(6_000).describe('For each client'),
  sessions: count.max(100_000).default(1_000),
  subscriptions: count.max(100_000).default(1_024),
  tools: count.max(1_000_000).default(10_000).describe('Of each server; what is beyond is left out'),
})

/** `unfold.json`, with its defaults. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  mcpServers: z.record(name, z.union([commandServer, urlServer])).default({}),
  exposure: exposure.default('auto'),
  budgetTokens: budgetTokens.default(8_000).describe('Tokens up to which auto lists every tool'),
  ...z.strictObject(presentation).partial().shape,
  remember: remember.default('session'),
  search: search.default(search.parse({})).describe('How search goes beyond words'),
  groups: z
    .record(
      z
        .string()
        .regex(
          /^[A-Za-z0-9][A-Za-z0-9_-]{0,54}$/u,
          'must be 1 to 55 letters, digits, underscores and hyphens, a letter or digit first',
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
          'must be 1 to 64 letters, digits, underscores and hyphens, a letter or digit first',
        )
        .regex(
          new RegExp(`^(?!${serverSegment}$)`, 'u'),
          `is reserved: ${mcpPath}/${serverSegment}/<server> serves single servers. Rename the profile`,
        ),
      profile,
    )
    .default({}),
  tokens: z.array(token).default([]),
  listen: listen.default(listen.parse({})),
  store: store.default({ kind: 'sqlite' }),
  audit: audit.optional().describe('Where calls are written down'),
  results: results.default(results.parse({})),
  limits: limits.default(limits.parse({})),
})

export type Config = z.output<typeof configSchema>
export type CommandServer = z.output<typeof commandServer>
export type UrlServer = z.output<typeof urlServer>
export type ServerConfig = CommandServer | UrlServer
export type ToolOverride = z.output<typeof override>
export type Profile = z.output<typeof profile>
export type TokenRecord = z.output<typeof token>
export type SearchConfig = z.output<typeof search>

/** Whether a server is started here. */
export const isCommandServer = (server: ServerConfig): server is CommandServer => 'command' in server

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
  audit: Object.keys(audit.shape),
  results: Object.keys(results.shape),
  limits: Object.keys(limits.shape),
} as const

const exposureKeys = ['mode', 'budgetTokens', ...Object.keys(presentation)]

const sections = ['search', 'listen', 'store', 'audit', 'results', 'limits'] as const

/** The keys that an object at this place may have. `isUrl` says which kind of server it is, where it is one. */
export function keysAt(path: readonly PropertyKey[], isUrl: boolean): readonly string[] {
  const [first, , third] = path
  if (path.length === 0) return shapes.top
  if (path.at(-1) === 'exposure' && (path.length === 1 || (path.length === 3 && first === 'profiles'))) return exposureKeys
  if (first === 'mcpServers') {
    if (path.length === 2) return isUrl ? shapes.url : shapes.command
    return path.length === 4 && third === 'tools' ? shapes.tool : []
  }
  if (path.length === 2 && first === 'groups') return shapes.group
  if (first === 'profiles' && path.length > 2) return third === 'search' ? keysAt(path.slice(2), isUrl) : []
  if (path.length === 2 && first === 'profiles') return shapes.profile
  if (path.length === 2 && first === 'search' && path[1] === 'embedder') return shapes.embedder
  if (path.length === 2 && first === 'tokens') return shapes.token
  const section = path.length === 1 ? sections.find((each) => each === first) : undefined
  return section === undefined ? [] : shapes[section]
}
