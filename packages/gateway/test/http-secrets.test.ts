import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { createHandler, defineToolbox, toNodeHandler } from '@unfold-mcp/server'
import { expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { createToken } from '../src/config/tokens.ts'
import type { StartOptions } from '../src/start.ts'
import { served } from './served.ts'
import { server } from './upstreams.ts'

const reference = (name: string): string => `$\{${name}}`

/** Reads an event stream as long as it is open. */
function follow(response: Response): { readonly text: () => string } {
  let text = ''
  void (async () => {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value
  })().catch(() => undefined)
  return { text: () => text }
}

test('no secret is in any output of a gateway: log, admin API, metrics or errors', async () => {
  const [argument, variable, header, password, query] = ['argument', 'variable', 'header', 'pass/word', 'query'].map(
    (name) => `canary-${name}-1f6b`,
  ) as [string, string, string, string, string]
  const { token, record } = createToken('someone')
  const closed = 'http://127.0.0.1:9'
  await using edge = await served(
    {
      tokens: [record],
      mcpServers: {
        careless: { ...server('mirror.mjs', reference('API_TOKEN')), env: { PLAIN_NAME: reference('OTHER') }, graceMs: 60_000 },
        blurting: { ...server('mirror.mjs', variable), env: { X: variable } },
        away: { url: `${closed}/mcp?key=${query}`, headers: { authorization: `Bearer ${header}`, 'x-key': header } },
        login: { url: `http://user:${encodeURIComponent(password)}@127.0.0.1:9/mcp` },
      },
    },
    { environment: { API_TOKEN: argument, OTHER: variable } },
  )
  await Promise.all([edge.ready('careless'), edge.ready('blurting')])
  const events = follow(await edge.ask('/api/events?level=debug', { token: edge.admin, headers: { 'last-event-id': '0' } }))
  await using client = await edge.connect('', { token })
  const outputs: unknown[] = []
  for (const name of ['careless__refuse', 'blurting__refuse', 'careless__die', 'careless__nothing'])
    outputs.push(await client.call(name).catch((error: unknown) => String(error)))
  await until(() => edge.lines.some((line) => line.includes('died of')), 'its last stderr output is in the log')
  const lost = (name: string): boolean => edge.gateway.upstreams.get(name)?.status.lastError !== undefined
  await until(() => lost('away') && lost('login'), 'the others cannot be reached')
  for (const path of [
    '/status',
    '/upstreams',
    '/upstreams/away',
    '/tools',
    '/changes',
    '/calls',
    '/clients',
    '/logs?level=debug&limit=1000',
  ])
    outputs.push(await edge.api(path))
  outputs.push(
    await (await edge.ask('/metrics', { token: edge.admin })).text(),
    await (await edge.ask('/api/status', { token })).text(),
  )
  await until(() => events.text().includes('died of'), 'the events contain them')
  const everything = [...edge.lines, events.text(), ...outputs.map((each) => JSON.stringify(each))].join('\n')
  expect(everything).toContain('not with [secret]')
  expect(everything).toContain('died of [secret]')
  for (const secret of [
    argument,
    variable,
    header,
    password,
    encodeURIComponent(password),
    query,
    token,
    record.hash,
    edge.admin,
  ])
    expect(everything).not.toContain(secret)
  expect(await readFile(edge.file, 'utf8')).not.toContain(token)
})

test('client credentials never reach a server, and a server gets only an allow-listed environment', async () => {
  const received: string[] = []
  const toolbox = defineToolbox({ name: 'listening', version: '1.0.0' }).tool('hear', {}, () => 'heard')
  const handler = createHandler(toolbox)
  const answer = toNodeHandler(handler)
  const upstream = createServer((request, response) => {
    received.push(JSON.stringify([request.url, request.rawHeaders]))
    const emit = request.emit.bind(request)
    request.emit = (event: string, ...args: unknown[]) => {
      if (event === 'data') received.push(String(args[0]))
      return emit(event, ...args)
    }
    answer(request, response)
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  const { token, record } = createToken('someone')
  const environment = { CANARY_TOKEN: 'canary-of-the-gateway', AWS_SECRET_ACCESS_KEY: 'canary-of-aws', OWN: 'for-the-mirror' }
  process.env.UNFOLD_TEST_CANARY = 'canary-of-the-process'
  {
    await using edge = await served(
      {
        tokens: [record],
        mcpServers: {
          web: { url: `http://127.0.0.1:${port}/mcp`, headers: { 'x-own': 'for-the-web' } },
          child: { ...server('mirror.mjs'), env: { OWN: reference('OWN') } },
        },
      },
      { environment },
    )
    await Promise.all([edge.ready('web'), edge.ready('child')])
    const cookies = {
      cookie: 'session=canary-cookie',
      'x-forwarded-for': '203.0.113.7',
      'x-api-key': 'canary-key',
      baggage: 'a=canary-baggage',
    }
    for (const era of ['session', 'stateless'] as const) {
      await using client = await edge.connect('', { era, token, headers: cookies })
      const _meta = {
        traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
        baggage: 'a=canary-baggage',
        'x.y/z': 'canary-meta',
      }
      await client.client.callTool({ name: 'web__hear', arguments: {}, _meta })
      const { content } = await client.client.callTool({ name: 'child__show', arguments: {}, _meta })
      received.push(JSON.stringify(content))
    }
    delete process.env.UNFOLD_TEST_CANARY
  }
  const everything = received.join('\n')
  for (const secret of [
    token,
    'canary-cookie',
    'canary-key',
    'canary-baggage',
    'canary-meta',
    '203.0.113.7',
    'canary-of-the-gateway',
    'canary-of-aws',
    'canary-of-the-process',
  ])
    expect(everything).not.toContain(secret)
  const shown = received.filter((each) => each.includes('"type":"text"')).join('')
  expect(shown).toContain('for-the-mirror')
  expect(shown).not.toContain('for-the-web')
  expect(everything.split('for-the-web').length).toBeGreaterThan(1)
  expect(everything).toContain(`00-${'a'.repeat(32)}`)
  await handler.close()
  await new Promise((resolve) => upstream.close(resolve))
})

test('the secrets of a sign-in are sent only to its server, never to a log, a response or the admin API, even after renewal', async () => {
  const received: (string | undefined)[] = []
  // It repeats what it received wherever it can.
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = JSON.parse((await textOf(request)) || '{}')
    const token = request.headers.authorization?.slice(7)
    received.push(token)
    if (request.method !== 'POST' || asked.id === undefined) {
      response.writeHead(202).end()
      return
    }
    const serverInfo = { name: `known by ${token}`, version: '1.0.0' }
    const results: { readonly [method: string]: object } = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
      'tools/list': { tools: [{ name: 'open', inputSchema: { type: 'object' } }] },
    }
    const result = request.url === '/shut' ? undefined : results[asked.method]
    const error = { code: -32_000, message: `Not with ${token}` }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...(result === undefined ? { error } : { result }) }))
  }
  const web = createServer((request, response) => void respond(request, response))
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
  let renewals = 0
  const signIns: NonNullable<StartOptions['signIns']> = async (url, hide) => ({
    async token() {
      const token = `canary-of-${url.endsWith('shut') ? 'shut' : 'open'}-${++renewals}`
      hide([token])
      return token
    },
  })
  await using edge = await served(
    { mcpServers: { open: { url: `${origin}/open` }, shut: { url: `${origin}/shut` } } },
    { signIns },
  )
  await edge.ready('open')
  await until(
    () => edge.gateway.upstreams.get('shut')?.status.lastError !== undefined,
    'the other server has rejected the request',
  )
  await using client = await edge.connect()
  // Its name contains the first token; there were many renewals since.
  const outputs: unknown[] = []
  for (let call = 0; call < 30; call++) outputs.push(await client.call('open__open').catch(String))
  for (const path of ['/status', '/upstreams', '/calls', '/logs?level=debug&limit=1000']) outputs.push(await edge.api(path))
  outputs.push(edge.running.redact(edge.gateway.upstreams.get('shut')?.status.lastError ?? ''))
  const everything = [...edge.lines, ...outputs.map((each) => JSON.stringify(each))].join('\n')
  expect(everything).toMatch(/Not with \[secret\]/u)
  expect(everything).toMatch(/known by \[secret\]/u)
  expect(everything).not.toContain('canary-of')
  expect(received.filter((each) => each?.startsWith('canary-of')).length).toBeGreaterThan(30)
  web.closeAllConnections()
  web.close()
})
