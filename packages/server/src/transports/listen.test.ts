import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Failure, LiveFacts } from '@unfold-mcp/core'
import { expect, test, vi } from 'vitest'
import { testClient } from '../testing/client.ts'
import { defineToolbox } from '../toolbox.ts'
import { listen } from './node.ts'

const box = () => defineToolbox({ name: 'hub', version: '1.0.0' }).tool('ping', {}, () => 'pong')

test('the fallback handles other paths, after the same checks', async () => {
  const requests: string[] = []
  await using server = await listen(box(), {
    port: 0,
    subpaths: true,
    authenticate: (request) => {
      requests.push(`mcp ${new URL(request.url).pathname}`)
      return { id: 'anyone' }
    },
    fallback: (request) => {
      requests.push(new URL(request.url).pathname)
      return new Response('here', { status: 201, headers: { 'x-own': 'yes' } })
    },
  })
  const { origin } = new URL(server.url)
  const response = await fetch(`${origin}/mcpx/health`)
  expect([response.status, response.headers.get('x-own'), await response.text()]).toEqual([201, 'yes', 'here'])
  expect((await fetch(`${origin}/health`, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
  await fetch(`${origin}/mcp/work`, { method: 'DELETE' })
  expect(requests).toEqual(['/mcpx/health', 'mcp /mcp/work'])
})

test('an idle connection stays open longer than load balancers keep one', async () => {
  await using server = await listen(box(), { port: 0 })
  const response = await fetch(server.url)
  await response.text()
  const [, seconds = ''] = /^timeout=(\d+)$/u.exec(response.headers.get('keep-alive') ?? '') ?? []
  expect(Number(seconds)).toBeGreaterThan(60)
})

test('sessions() lists the clients without their session ids', async () => {
  await using server = await listen(box(), { port: 0, authenticate: () => ({ id: 'ann' }) })
  const { handler, url } = server
  const client = await testClient(new StreamableHTTPClientTransport(new URL(url)), { era: 'session', listens: true })
  expect(handler.sessions()).toEqual([
    {
      number: 1,
      name: 'test-client',
      version: '1.0.0',
      principal: { id: 'ann' },
      sinceMs: expect.any(Number),
      idleMs: expect.any(Number),
      isListening: true,
    },
  ])
  await client.close()
  expect(handler.sessions()).toEqual([])
})

test('every call is admitted or rejected with a reason, for any tool', async () => {
  const admitted: unknown[] = []
  const toolbox = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: { files: { description: 'Files' } },
    admit: ({ tool, principal }) => {
      admitted.push([tool, principal])
      if (admitted.length > 2)
        throw new Failure('rate_limited', 'Too many calls. Call again in 1 s.', { limit: 2, retryAfterMs: 1_000 })
    },
  }).tool('read', { group: 'files' }, () => 'text')
  await using server = await listen(toolbox, { port: 0, authenticate: () => ({ id: 'ann' }) })
  await using client = await testClient(new StreamableHTTPClientTransport(new URL(server.url)), {
    era: 'session',
    listens: false,
  })
  expect(await client.call('activate_files')).not.toMatchObject({ isError: true })
  expect(await client.call('read')).toMatchObject({ content: [{ text: 'text' }] })
  expect(await client.call('activate_files')).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('again in 1 s') }],
  })
  expect(admitted).toEqual(['activate_files', 'read', 'activate_files'].map((tool) => [tool, { id: 'ann' }]))
})

test('a call waits for admission before its modes and arguments are checked', async () => {
  const facts = new LiveFacts({ logs: 0 })
  let arrive = (): void => undefined
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const admitted: string[] = []
  const toolbox = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    facts,
    admit: ({ tool }) => {
      admitted.push(tool)
      return tool === 'observe' ? arrived : undefined
    },
  })
    .composite(
      'observe',
      { by: 'what', modes: { logs: { description: 'Logs', count: (at) => at.facts.logs } } },
      { logs: () => 'a line' },
    )
    .tool('health', {}, () => 'well')
  await using server = await listen(toolbox, { port: 0 })
  await using client = await testClient(new StreamableHTTPClientTransport(new URL(server.url)), {
    era: 'session',
    listens: false,
  })
  const observed = client.call('observe', { what: 'logs' })
  expect(await client.call('health')).toMatchObject({ content: [{ text: 'well' }] })
  await vi.waitFor(() => expect(admitted.toSorted()).toEqual(['health', 'observe']), { timeout: 120_000 })
  facts.set({ logs: 1 })
  arrive()
  expect(await observed).toMatchObject({ content: [{ text: 'a line' }] })
})

test.each(['session', 'stateless'] as const)('a large reply arrives complete, whatever its characters (%s)', async (era) => {
  const text = `a${'😀é'.repeat(150_000)}`
  const toolbox = box()
    .tool('give', {}, () => text)
    .tool('stream', {}, async (_input, ctx) => {
      await ctx.progress(1, 2, text)
      return text
    })
  await using server = await listen(toolbox, { port: 0 })
  await using client = await testClient(new StreamableHTTPClientTransport(new URL(server.url)), { era, listens: false })
  for (const name of ['give', 'stream']) {
    const [block] = (await client.client.callTool({ name }, { onprogress: () => undefined })).content
    expect(block?.type === 'text' && block.text === text).toBe(true)
  }
})
