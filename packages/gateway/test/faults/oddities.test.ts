import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { serveHttp } from '../../../client/test/servers.ts'
import { textOf } from '../result-text.ts'
import { server } from '../upstreams.ts'
import { Peer } from './peer.ts'
import { runningGateway } from './running.ts'

const json = { 'content-type': 'application/json' }
const events = { 'content-type': 'text/event-stream' }

const oddities: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'an HTML page': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
  'nothing at all': (response) => response.writeHead(204).end(),
  'invalid JSON': (response) => response.writeHead(200, json).end('{"jsonrpc":"2.0",'),
  'other JSON': (response) => response.writeHead(200, json).end('[1,2,3]'),
  'JSON of another content type': (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('{}'),
  'a response to another request': (response) => response.writeHead(200, json).end('{"jsonrpc":"2.0","id":"x","result":{}}'),
  'headers only': (response) => response.writeHead(200, { ...json, 'content-length': '500' }).destroy(),
  'a stream that breaks': (response) => {
    response.writeHead(200, events).write('event: message\ndata: {"jsonrpc"')
    setTimeout(() => response.socket?.resetAndDestroy(), 20)
  },
  'a stream of comments': (response) => response.writeHead(200, events).end(': nothing to say\r\n'.repeat(10_000)),
  'an HTTP error': (response) => response.writeHead(500).end('<b>oops</b>'),
}

describe('an upstream that responds with', () => {
  test.concurrent.each(Object.entries(oddities))(
    '%s is reported with the problem, and the others are served',
    async (_name, answer) => {
      await using odd = await serveHttp((_request, response) => answer(response))
      await using fine = await Peer.open('listen')
      await using all = await runningGateway({ odd: { url: odd.url, startTimeoutMs: 1_000 }, fine: fine.config() })
      await using client = await all.connect()
      await all.lists('fine__one')
      await until(() => all.of('state', 'odd').some(({ error }) => error !== undefined), 'the error is reported')
      expect(['reconnecting', 'failed']).toContain(all.state('odd'))
      expect(await client.names()).toEqual(['fine__one'])
    },
  )
})

test('an upstream that redirects gets no credentials at the target', async () => {
  const seen: IncomingMessage[] = []
  await using elsewhere = await serveHttp((request, response) => {
    seen.push(request)
    response.writeHead(404).end()
  })
  const location = elsewhere.url.replace('127.0.0.1', 'localhost')
  await using odd = await serveHttp((_request, response) => response.writeHead(307, { location }).end())
  const headers = { Authorization: 'Bearer of-the-upstream', 'X-Key': 'of-the-upstream' }
  await using all = await runningGateway({ odd: { url: odd.url, headers } })
  await until(() => all.of('state', 'odd').some(({ error }) => error !== undefined), 'it is rejected')
  expect(seen.flatMap(({ rawHeaders }) => rawHeaders).filter((value) => value.includes('of-the-upstream'))).toEqual([])
})

test('an upstream that writes endlessly to stderr is served like any other', async () => {
  const { command, args = [] } = server('raw.mjs')
  const flood = `const line = 'x'.repeat(65535) + '\\n'; for (let i = 0; i < 300; i++) require('fs').writeSync(2, line); import(process.argv[1])`
  await using all = await runningGateway({ loud: { command, args: ['-e', flood, ...args] } })
  await all.lists('loud__more')
  await using client = await all.connect()
  expect(Number(textOf(await client.call('loud__more')))).toBeGreaterThan(1)
})

test('two hundred callers of a disconnected upstream cause one connection attempt, and are all answered when it is back', async () => {
  const first = await Peer.open('http')
  await using all = await runningGateway({ up: { ...first.config(), sweepMs: 0 } })
  await all.lists('up__one')
  await using client = await all.connect()
  const { port } = first
  await first[Symbol.asyncDispose]()
  await all.reaches('up', 'reconnecting')
  const calls = Array.from({ length: 200 }, () => client.call('up__one'))
  await using second = await Peer.open('http', ['one'], port)
  const texts = new Set((await Promise.all(calls)).map(textOf))
  expect([...texts]).toEqual(['one was called'])
  expect(second.asked.filter((method) => method === 'initialize')).toHaveLength(1)
  expect(second.calls).toHaveLength(200)
})
