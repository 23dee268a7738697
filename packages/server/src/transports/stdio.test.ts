import { PassThrough } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { defineToolbox } from '../toolbox.ts'
import { serveStdio } from './stdio.ts'

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}

/** Serves a toolbox over a pair of streams. */
function start(served: object) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const received: { readonly id?: unknown; readonly error?: unknown }[] = []
  output.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n')) if (line !== '') received.push(JSON.parse(line))
  })
  const serving = serveStdio(served, { streams: { input, output } })
  const send = (...messages: readonly object[]): void =>
    void input.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  return { send, received, [Symbol.asyncDispose]: () => serving.close() }
}

test('the first request can be cancelled before its scope is open: it does not run and gets no response', async () => {
  let calls = 0
  const toolbox = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('buy', {}, () => `${++calls}`)
  await using server = start(toolbox)
  server.send(
    { id: 1, method: 'tools/call', params: { name: 'buy', _meta } },
    { method: 'notifications/cancelled', params: { requestId: 1 } },
    { id: 2, method: 'tools/list', params: { _meta } },
  )
  await vi.waitUntil(() => server.received.some(({ id }) => id === 2), { timeout: 120_000 })
  expect(server.received.map(({ id }) => id)).toEqual([2])
  expect(calls).toBe(0)
})

test('the next request retries a scope that could not be opened', async () => {
  let failures = 1
  const toolbox = defineToolbox({
    name: 'shop',
    version: '1.0.0',
    exposure: () => {
      if (failures-- > 0) throw new Error('not yet')
      return 'everything'
    },
  }).tool('buy', {}, () => 'bought')
  await using server = start(toolbox)
  server.send({ id: 1, method: 'tools/list', params: { _meta } })
  await vi.waitUntil(() => server.received.length > 0, { timeout: 120_000 })
  expect(server.received).toMatchObject([{ id: 1, error: { code: -32_603 } }])
  server.send({ id: 2, method: 'tools/list', params: { _meta } })
  await vi.waitUntil(() => server.received.some(({ id }) => id === 2), { timeout: 120_000 })
  expect(server.received.find(({ id }) => id === 2)).toMatchObject({ result: { tools: [{ name: 'buy' }] } })
})

test('AT-R06-9: a client over stdio that does not read its replies is served no further until it reads', async () => {
  let calls = 0
  const toolbox = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('give', {}, () => {
    calls++
    return 'x'.repeat(4 * 1024 * 1024)
  })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const serving = serveStdio(toolbox, { streams: { input, output } })
  const call = (id: number): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'give', _meta } })}\n`
  for (let id = 0; id < 12 && !input.isPaused(); id++) {
    const before = calls
    input.write(call(id))
    await vi.waitUntil(() => calls > before || input.isPaused(), { timeout: 60_000 })
  }
  for (let id = calls; id < 12; id++) input.write(call(id))
  await new Promise((resolve) => setImmediate(resolve))
  expect(input.isPaused()).toBe(true)
  expect(calls).toBeLessThan(8)
  output.resume()
  await vi.waitUntil(() => calls === 12, { timeout: 60_000 })
  await serving.close()
})
