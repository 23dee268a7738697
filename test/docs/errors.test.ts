import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, isClientError } from '@unfold-mcp/client'
import { type Reason, reasons } from '@unfold-mcp/core'
import {
  createHandler,
  defineToolbox,
  type HandlerOptions,
  isFailure,
  listen,
  type SessionStore,
  type Toolbox,
  ToolGroups,
  ToolRegistry,
  unauthorized,
} from '@unfold-mcp/server'
import { mcpServer, toolboxOf } from '@unfold-mcp/server/decorators'
import { pluginFolder } from '@unfold-mcp/server/plugins'
import { quickJsEngine, type ScriptEngine, type ScriptMachine, type ScriptOptions } from '@unfold-mcp/server/scripts'
import { testContext, testServer } from '@unfold-mcp/server/testing'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { pending } from '../../packages/gateway/src/approvals/refusals.ts'
import type { ProxiedCall } from '../../packages/gateway/src/middleware/chain.ts'
import { openWire } from '../wire.ts'
import { withGateway } from './running-gateway.ts'
import { shownAs } from './transcript.ts'

const identity = { name: 'hub', version: '1.0.0' }
const plain = (): Toolbox<never> => defineToolbox(identity).tool('ping', { description: 'Ping' }, () => 'pong')
const cloud = () =>
  defineToolbox({
    ...identity,
    groups: {
      infra: { description: 'Infrastructure' },
      aws: { description: 'AWS', parent: 'infra' },
      monitor: { description: 'Logs' },
    },
    hiddenCalls: 'hint',
    quota: { groups: 2, whenFull: 'refuse' },
  })
    .tool('ec2_list', { group: 'aws', description: 'List instances' }, () => 'i-1')
    .tool('read_logs', { group: 'monitor', description: 'Read logs' }, () => 'quiet')

const unreachable = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'))
const unreachableSessions: SessionStore = {
  replica: 'a',
  isCurrent: false,
  create: unreachable,
  load: unreachable,
  update: unreachable,
  mark: unreachable,
  confirm: unreachable,
  remove: unreachable,
  renew: unreachable,
  send: unreachable,
  subscribe: () => () => undefined,
  isAlive: () => true,
  keep: unreachable,
  kept: unreachable,
}

/** Produces each failure and returns the text that its reader sees. */
const seen: { readonly [R in Reason]: () => Promise<string> } = {
  ambiguous_resource: ambiguousResource,
  approval_pending: async () => {
    const call = { tool: 'write_file' } as ProxiedCall
    return pending(call, { effect: 'ask', rule: undefined, reason: undefined }).message
  },
  arguments_too_large: () => http(plain(), { body: JSON.stringify({ a: JSON.parse('['.repeat(120) + ']'.repeat(120)) }) }),
  body_too_large: () => http(plain(), { body: JSON.stringify('x'.repeat(2_000)) }, { maxBodyBytes: 1_024 }),
  busy: beyondTheQueue,
  call_cancelled: cancelled,
  conflicting_groups: () =>
    thrown(() =>
      defineToolbox({
        ...identity,
        groups: {
          aws: { description: 'AWS', excludes: ['gcp'] },
          gcp: { description: 'GCP' },
          both: { description: 'Both', needs: ['aws', 'gcp'] },
        },
      }),
    ),
  connection_limit: connectionLimit,
  denied: () => {
    const tool = defineToolbox(identity).tool('pay', { input: z.object({ amount: z.number() }) }, () => 'Paid.')
    const above = { properties: { amount: { exclusiveMinimum: 100 } }, required: ['amount'] }
    const rules = [{ effect: 'deny', tool: 'pay', arguments: above, reason: 'At most 100 at once.' }]
    return gatewayReply({ shop: tool }, { policy: { rules } }, { tool: 'shop__pay', args: { amount: 120 }, reason: 'denied' })
  },
  duplicate_id: duplicateId,
  duplicate_name: () => thrown(() => plain().tool('ping', { description: 'Ping again' }, () => 'pong')),
  effect_unknown: crashDuringCall,
  forbidden_host: () => http(plain(), { headers: { host: 'attacker.example' } }),
  forbidden_origin: () => http(plain(), { headers: { origin: 'https://attacker.example' } }),
  group_cycle: () =>
    thrown(() =>
      defineToolbox({ ...identity, groups: { a: { description: 'A', needs: ['b'] }, b: { description: 'B', needs: ['a'] } } }),
    ),
  group_inactive: () => resultText(cloud(), 'activate_aws'),
  header_mismatch: () =>
    http(plain(), {
      headers: { ...stateless, 'mcp-method': 'tools/call' },
      body: JSON.stringify({ ...list, params: { _meta: envelope } }),
    }),
  hook_failed: () =>
    resultText(
      defineToolbox({
        ...identity,
        groups: {
          database: { description: 'Database', hooks: { activate: () => Promise.reject(new Error('connection refused')) } },
        },
      }),
      'activate_database',
    ),
  internal_error: () =>
    http(
      plain(),
      {},
      {
        authenticate: () => {
          throw new Error('the directory does not answer')
        },
      },
    ),
  invalid_arguments: () =>
    resultText(
      defineToolbox(identity).tool('price', { inputSchema: z.object({ dish: z.string(), portions: z.int() }) }, () => '4 €'),
      'price',
      { portions: 'two' },
    ),
  invalid_cursor: () => rpc(pages(), 'tools/list', { cursor: 'page-2' }),
  invalid_declaration: () =>
    thrown(() => testContext(plain().tool('start', { description: 'Start editing', activator: true }, () => 'Started.'))),
  invalid_json: () => http(plain(), { body: '{"jsonrpc":' }),
  invalid_name: () => thrown(() => plain().tool('read file', { description: 'Read a file' }, () => '')),
  invalid_params: () => rpc(plain(), 'tools/call', { arguments: {} }),
  invalid_request: () => http(plain(), { body: JSON.stringify({ method: 'tools/list' }) }),
  invalid_result: () =>
    resultText(
      plain().tool('count', { description: 'Count' }, () => new Map([['books', 42]])),
      'count',
    ),
  invalid_schema: () => thrown(() => plain().tool('greet', { inputSchema: z.string() }, () => '')),
  invalid_snapshot: () => scriptFailure((machine) => machine.restore(Buffer.from('{"state":1}'))),
  invalid_view: () => http(cloud(), { address: '?groups=infr', body: JSON.stringify(initialize) }),
  mode_unavailable: () =>
    resultText(
      plain().composite(
        'observe',
        {
          by: 'what',
          modes: {
            page: { description: 'The page as it is' },
            network: { description: 'Requests', available: () => false, whenEmpty: 'Load the page, then observe again.' },
          },
        },
        { page: () => '', network: () => '' },
      ),
      'observe',
      { what: 'network' },
    ),
  name_clash: () => {
    const registry = new ToolRegistry({ name: 'plugins' })
    registry.register('ping', { description: 'Another ping' }, () => 'pong')
    return reported(plain().use(registry), (context) => context.toolNames())
  },
  no_scope: () => thrown(outsideACall),
  permission_check_failed: () => reported(permitThatThrows(), (context) => context.toolNames()),
  plugin_failed: brokenPlugin,
  port_in_use: portInUse,
  predicate_failed: () => reported(predicateThatThrows(), (context) => context.toolNames()),
  quota_full: () =>
    resultText(cloud(), 'activate_monitor', {}, async (context) => {
      await context.call('activate_infra')
      await context.call('activate_aws')
    }),
  rate_limited: rateLimited,
  requires_activation: () => resultText(cloud(), 'ec2_list'),
  reserved_name: () => thrown(() => plain().tool('search_tools', { description: 'Search' }, () => '')),
  script_failed: () => resultText(scripted(), 'run_code', { code: 'await tools.ping()\nthrow new RangeError("no items")' }),
  script_limit: () => scriptFailure((machine) => machine.start({ source: 'for (;;);' })),
  script_state_rejected: async () => {
    const params = { name: 'run_code', arguments: { code: 'return 1' }, requestState: 'script.AAAA', _meta: envelope }
    await using handler = createHandler(scripted())
    const headers = { ...stateless, 'mcp-method': 'tools/call', 'mcp-name': 'run_code' }
    const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = JSON.stringify({ ...list, method: 'tools/call', params })
    const response = await handler.fetch(
      new Request('http://127.0.0.1/mcp', { method: 'POST', headers: { ...accept, ...headers }, body }),
    )
    const { result } = (await response.json()) as { result: { content: readonly { text: string }[] } }
    return result.content.map(({ text }) => text).join('\n')
  },
  script_unavailable: () => scriptFailure((_machine, engine) => engine.open(scriptOptions)),
  search_degraded: () =>
    reported(
      defineToolbox({
        ...identity,
        exposure: 'search',
        search: {
          embedder: {
            embed: () => Promise.reject(new Error('The embedder at http://127.0.0.1:11434/v1/embeddings failed: fetch failed')),
          },
        },
      }),
      (context) => context.call('search_tools', { query: 'ping' }),
    ),
  session_limit: () => http(plain(), { body: JSON.stringify(initialize) }, { sessions: { max: 1 } }, 2),
  session_not_found: () => http(plain(), { headers: { 'mcp-session-id': '6f1c' }, body: JSON.stringify(list) }),
  stale_cursor: staleCursor,
  state_unavailable: () =>
    http(
      plain(),
      { headers: { 'mcp-session-id': '6f1c' }, body: JSON.stringify(list) },
      { sessions: { store: unreachableSessions } },
    ),
  store_failed: () =>
    reported(
      defineToolbox({
        ...identity,
        groups: { files: { description: 'Files' } },
        remember: 'reconnect',
        store: { load: async () => undefined, save: () => Promise.reject(new Error('no space left on device')) },
      }),
      (context) => context.call('activate_files'),
    ),
  subscription_limit: () =>
    http(
      plain(),
      {
        headers: { ...stateless, 'mcp-method': 'subscriptions/listen' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'subscriptions/listen',
          params: { notifications: { toolsListChanged: true }, _meta: envelope },
        }),
      },
      { maxSubscriptions: 1 },
      2,
    ),
  tool_failed: () =>
    resultText(
      plain().tool('read', { description: 'Read' }, () => {
        throw new Error('There is no file "notes.txt". List the files first.')
      }),
      'read',
    ),
  tool_timeout: () =>
    resultText(
      plain().tool('wait', { timeoutMs: 100 }, () => new Promise<string>(() => undefined)),
      'wait',
    ),
  unauthorized: () => http(plain(), {}, { authenticate: () => unauthorized() }),
  unknown_group: () => resultText(cloud(), 'deactivate', { group: 'infr' }),
  unknown_path: unknownPath,
  unknown_profile: unknownProfile,
  unknown_scope: () => thrown(() => cloud().activate('infra', 'session:6f1c')),
  unknown_server: unknownServer,
  unknown_tool: () => rpc(plain(), 'tools/call', { name: 'pin' }),
  unsupported_media_type: () => http(plain(), { headers: { 'content-type': 'text/plain' } }),
  unsupported_method: () => http(plain(), { method: 'PUT' }),
  unsupported_server: () => thrown(() => createHandler({ name: 'hub' } as object)),
}

for (const [reason, show] of Object.entries(seen)) {
  test(`${reason}: its page shows the actual message`, async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await expect(`${await show()}\n`).toMatchFileSnapshot(shownAs(`errors/${reason}`))
  })
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'client', version: '1.0.0' } },
}
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

const stateless = { 'mcp-protocol-version': '2026-07-28' }
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'client', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const pages = () =>
  defineToolbox({ ...identity, protocol: { pageSize: 1 }, groups: { files: { description: 'Files' } } })
    .tool('read_file', { group: 'files', description: 'Read a file' }, () => '')
    .tool('ping', { description: 'Ping' }, () => 'pong')

const permitThatThrows = () =>
  defineToolbox({
    ...identity,
    permit: () => {
      throw new Error('the directory does not answer')
    },
  }).tool('ping', { description: 'Ping' }, () => 'pong')

const predicateThatThrows = () =>
  plain().tool(
    'replay',
    {
      when: () => {
        throw new TypeError("Cannot read properties of undefined (reading 'length')")
      },
    },
    () => '',
  )

/** Returns the message of the exception that an author or operator gets. */
async function thrown(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    if (isFailure(error)) return String(error)
    throw error
  }
  throw new Error('Nothing was thrown.')
}

/** A server whose scripts need no confirmation. */
const scripted = () =>
  defineToolbox({ ...identity, exposure: 'code', code: { confirm: 'never' } }).tool('ping', { description: 'Ping' }, () => 'pong')

/** Returns the text of a result with `isError` and the reason in its `_meta`. */
async function resultText(
  served: object,
  name: string,
  args: Record<string, unknown> = {},
  before: (context: Awaited<ReturnType<typeof testContext>>) => Promise<void> = async () => undefined,
): Promise<string> {
  await using context = await testContext(served)
  await before(context)
  const { content, isError, _meta } = await context.call(name, args)
  expect(isError).toBe(true)
  expect(reasons).toHaveProperty(String(_meta?.['io.github.unfold-mcp/reason']), 'tool')
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}

/** Returns the warning on standard error. */
async function reported(served: object, work: (context: Awaited<ReturnType<typeof testContext>>) => unknown): Promise<string> {
  const lines: string[] = []
  vi.spyOn(console, 'error').mockImplementation((...parts) => void lines.push(parts.join(' ')))
  await using context = await testContext(served, { principal: { id: 'ada' } })
  await work(context)
  return lines.join('\n')
}

/** Returns the warning on standard error about a plugin that fails to load. */
async function brokenPlugin(): Promise<string> {
  const lines: string[] = []
  vi.spyOn(console, 'error').mockImplementation((...parts) => void lines.push(parts.join(' ')))
  const folder = await mkdtemp(join(tmpdir(), 'unfold-docs-'))
  try {
    await writeFile(join(folder, 'weather.mjs'), `if (true)\n  throw new Error('WEATHER_KEY is not set')\nexport default []\n`)
    await using plugins = pluginFolder(folder, { watch: false })
    await plugins.ready()
    return lines.join('\n')
  } finally {
    await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
  }
}

interface HttpRequest {
  readonly method?: string
  readonly address?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Returns an HTTP response as text. */
async function http(
  served: object,
  { method = 'POST', address = '', headers = {}, body = '{}' }: HttpRequest,
  options: HandlerOptions = {},
  times = 1,
): Promise<string> {
  await using handler = createHandler(served, options)
  const always = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', host: '127.0.0.1:7420' }
  const send = () =>
    handler.fetch(new Request(`http://127.0.0.1:7420/mcp${address}`, { method, headers: { ...always, ...headers }, body }))
  for (let time = 1; time < times; time++) await send()
  const response = await send()
  return `HTTP ${response.status}\n${JSON.stringify(await response.json(), undefined, 2)}`
}

/** Returns the JSON-RPC error of a request. */
async function rpc(served: object, method: string, params: Record<string, unknown>): Promise<string> {
  await using wire = await openWire(served, { transport: 'stdio', era: 'session' })
  const { error } = await wire.ask(method, params)
  return JSON.stringify({ error }, undefined, 2)
}

/** Sends a second request with the id of a pending one; the first response is the error. */
async function duplicateId(): Promise<string> {
  await using wire = await openWire(
    plain().tool('wait', { description: 'Wait' }, () => new Promise<string>(() => undefined)),
    { transport: 'stdio', era: 'session' },
  )
  const first = wire.ask('tools/call', { name: 'wait' })
  void wire.ask('tools/list')
  return JSON.stringify({ error: (await first).error }, undefined, 2)
}

async function unknownPath(): Promise<string> {
  await using listening = await listen(plain(), { port: 0 })
  const response = await fetch(listening.url.replace('/mcp', '/'))
  return `HTTP ${response.status}\n${JSON.stringify(await response.json(), undefined, 2)}`
}

/** Opens a second connection to a server that allows one. */
async function connectionLimit(): Promise<string> {
  await using listening = await listen(plain(), { port: 0, maxConnections: 1 })
  const first = createConnection(Number(new URL(listening.url).port), '127.0.0.1')
  await once(first, 'connect')
  // The response arrives after the connection is counted.
  first.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(first, 'data')
  const response = await fetch(listening.url)
  first.destroy()
  return `HTTP ${response.status}\n${JSON.stringify(await response.json(), undefined, 2)}`
}

async function staleCursor(): Promise<string> {
  await using wire = await openWire(pages(), { transport: 'stdio', era: 'session' })
  const { result } = await wire.ask('tools/list')
  await wire.ask('tools/call', { name: 'activate_files' })
  const { error } = await wire.ask('tools/list', { cursor: result.nextCursor })
  return JSON.stringify({ error }, undefined, 2).replace(String(result.nextCursor), '1.6f1c…')
}

/** Cancels a call and returns the abort reason that the handler sees. */
/** Calls a tool while another call runs and no call may wait. */
async function beyondTheQueue(): Promise<string> {
  let end: () => void = () => undefined
  const box = defineToolbox({ ...identity, limits: { concurrency: 1, queue: 0 } }).tool(
    'export',
    { description: 'Export everything' },
    async () => {
      await new Promise<void>((resolve) => {
        end = resolve
      })
    },
  )
  await using context = await testContext(box)
  const first = context.call('export')
  const { content } = await context.call('export')
  end()
  await first
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}

async function cancelled(): Promise<string> {
  const giveUp = new AbortController()
  let found = ''
  const box = plain().tool('wait', { description: 'Wait' }, async (_input, { signal }) => {
    const gone = once(signal, 'abort')
    giveUp.abort()
    await gone
    found = String(signal.reason)
  })
  await using server = await testServer(box, { transport: 'memory', era: 'session' })
  await using client = await server.connect()
  await expect(client.client.callTool({ name: 'wait' }, { signal: giveUp.signal })).rejects.toThrow('aborted')
  await expect.poll(() => found).not.toBe('')
  return found
}

const scriptOptions: ScriptOptions = {
  limits: { cpuMs: 100, wallMs: 240_000, memoryBytes: 16_777_216, calls: 10, outputCharacters: 1_000, resultBytes: 1_000 },
  signal: new AbortController().signal,
}

async function scriptFailure(fail: (machine: ScriptMachine, engine: ScriptEngine) => Promise<unknown>): Promise<string> {
  await using engine = quickJsEngine({ workers: 1, queue: 0 })
  const machine = await engine.open(scriptOptions)
  const error = await fail(machine, engine).catch((reason: unknown) => reason)
  if (!isFailure(error)) throw error
  return error.message
}

async function outsideACall(): Promise<void> {
  @mcpServer({ groups: 'groups' })
  class Hub {
    groups = new ToolGroups().withGroup('files', 'Files')
  }
  const server = new Hub()
  toolboxOf(server)
  await server.groups.activate('files')
}

async function portInUse(): Promise<string> {
  await using first = await listen(plain(), { port: 0 })
  const port = Number(new URL(first.url).port)
  const text = await thrown(() => listen(plain(), { port }))
  return text.replaceAll(String(port), '7420')
}

/** Requests an unknown profile of a gateway. */
function unknownProfile(): Promise<string> {
  return withGateway({}, { profiles: { reading: {} } }, ({ url }) => initialized(`${url}/raeding`))
}

/** Requests an unknown server of a gateway. */
/** Reads a resource that two servers of a gateway have. */
function ambiguousResource(): Promise<string> {
  const sharing = (): object =>
    plain().extend((mcp) => {
      mcp.registerResource('plan', 'memo://plan', {}, async ({ href }) => ({ contents: [{ uri: href, text: 'Ship it.' }] }))
    })
  return withGateway({ notes: sharing(), wiki: sharing() }, {}, async ({ gateway, url = '' }) => {
    await gateway.proxy.documentsRead()
    await using connection = await connect({ url })
    const error = await connection.request('resources/read', { uri: 'memo://plan' }).catch((reason: unknown) => reason)
    if (!isClientError(error, 'protocol')) throw error
    const { code, problem: message, data } = error.details
    return JSON.stringify({ error: { code, message, data } }, undefined, 2)
  })
}

function unknownServer(): Promise<string> {
  return withGateway({ notes: plain() }, {}, ({ url }) => initialized(`${url}/s/nots`))
}

async function initialized(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(initialize) })
  return `HTTP ${response.status}\n${JSON.stringify(await response.json(), undefined, 2)}`
}

interface RefusedCall {
  readonly tool: string
  readonly args?: Record<string, unknown>
  readonly reason: Reason
}

/** Returns the text of a call that a gateway answers with this reason. */
function gatewayReply(served: Record<string, object>, settings: object, { tool, args, reason }: RefusedCall): Promise<string> {
  return withGateway(served, settings, async ({ url = '' }) => {
    await using connection = await connect({ url })
    const { content, isError, _meta } = await connection.call(tool, args)
    expect(isError).toBe(true)
    expect(_meta).toMatchObject({ 'io.github.unfold-mcp/reason': reason })
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  })
}

const crashing = `import { createInterface } from 'node:readline'
const replies = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1.0.0' } }),
  'tools/list': () => ({ tools: [{ name: 'pay', inputSchema: { type: 'object' } }] }),
  'tools/call': () => process.exit(1),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const reply = replies[method]
  const response = reply === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result: reply(params) }
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...response }) + '\\n')
})
`

/** Calls a tool of a server whose process ends during the call. */
async function crashDuringCall(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-docs-'))
  try {
    const file = join(folder, 'shop.mjs')
    await writeFile(file, crashing)
    const mcpServers = { shop: { command: process.execPath, args: [file] } }
    return await gatewayReply({}, { mcpServers }, { tool: 'shop__pay', reason: 'effect_unknown' })
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

/** Exceeds the rate limit of a gateway. */
function rateLimited(): Promise<string> {
  return withGateway({ hub: plain() }, { limits: { callsPerMinute: 1 } }, async ({ url = '' }) => {
    await using connection = await connect({ url })
    for (let calls = 0; calls < 10; calls++) {
      const { content, isError, _meta } = await connection.call('hub__ping')
      if (!isError) continue
      expect(_meta).toMatchObject({ 'io.github.unfold-mcp/reason': 'rate_limited' })
      const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
      return text.replace(/\d+ s\.$/u, '60 s.')
    }
    throw new Error('No call was rejected.')
  })
}
