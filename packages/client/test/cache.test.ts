import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileCache, memoryCache, type ToolCache } from '../src/cache/cache.ts'
import { type ConnectOptions, connect } from '../src/connect.ts'
import { identityOfTools } from '../src/tools/identity.ts'
import { tap } from './counting-proxy.ts'
import { failure } from './failing.ts'
import { server } from './processes.ts'
import { changeable, serveToolbox } from './servers.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-cache-'))
})
afterAll(() => rm(folder, { recursive: true, maxRetries: 10, retryDelay: 100 }))

const caches: readonly (readonly [string, () => ToolCache])[] = [
  ['in memory', () => memoryCache()],
  ['in files', () => fileCache(join(folder, crypto.randomUUID()))],
]

describe.each(caches)('a cache %s', (_, open) => {
  describe.each(['session', '2026-07-28'] as const)('of a server over HTTP, %s', (protocol) => {
    const listed = async (url: string, cache: ToolCache, options: ConnectOptions = {}): Promise<readonly string[]> => {
      await using connection = await connect({ url }, { cache, protocol, ...options })
      return (await connection.tools()).map(({ name }) => name).sort()
    }

    test('saves the list request on every later connection, and the identity request as well', async () => {
      const { toolbox, names } = changeable(5)
      await using http = await serveToolbox(toolbox)
      await using wire = await tap(http.port)
      const cache = open()
      expect(await listed(wire.url, cache)).toEqual(names())
      expect(wire.count('tools/list')).toBe(1)
      for (let i = 0; i < 3; i++) expect(await listed(wire.url, cache)).toEqual(names())
      expect(wire.count('tools/list')).toBe(1)
      expect(wire.count('server/identity')).toBe(0)
    })

    test('is replaced with exactly one list request when the tools have changed', async () => {
      const { toolbox, put, names } = changeable(5)
      await using http = await serveToolbox(toolbox)
      await using wire = await tap(http.port)
      const cache = open()
      await listed(wire.url, cache)
      put('tool_0', 'Does something else')
      expect(await listed(wire.url, cache)).toEqual(names())
      expect(wire.count('tools/list')).toBe(2)
      await using connection = await connect({ url: wire.url }, { cache, protocol })
      expect((await connection.tool('tool_0')).description).toBe('Does something else')
      expect(wire.count('tools/list')).toBe(2)
    })

    test('is separate for each credential and view', async () => {
      const { toolbox } = changeable(5)
      await using http = await serveToolbox(toolbox)
      await using wire = await tap(http.port)
      const cache = open()
      await listed(wire.url, cache, { credential: 'alice' })
      await listed(wire.url, cache, { credential: 'bob' })
      await listed(wire.url, cache, { credential: 'alice', view: 'exposure=everything' })
      expect(wire.count('tools/list')).toBe(3)
      await listed(wire.url, cache, { credential: 'alice' })
      expect(wire.count('tools/list')).toBe(3)
    })

    test('is not used for a server without identity, which is listed each time', async () => {
      const { toolbox, names } = changeable(5, { protocol: { identity: false, ttlMs: 0 } })
      await using http = await serveToolbox(toolbox)
      await using wire = await tap(http.port)
      const cache = open()
      expect(await listed(wire.url, cache)).toEqual(names())
      expect(await listed(wire.url, cache)).toEqual(names())
      expect(wire.count('tools/list')).toBe(2)
    })
  })

  test('keeps the list of a server without identity for its time to live', async () => {
    const { toolbox } = changeable(5, { protocol: { identity: false, ttlMs: 60_000 } })
    await using http = await serveToolbox(toolbox)
    await using wire = await tap(http.port)
    const cache = open()
    let now = 1_000_000
    const clock = {
      now: () => performance.now(),
      wallTime: () => now,
      after: (ms: number, run: () => void) => clearing(setTimeout(run, ms)),
    }
    const list = async (): Promise<void> => {
      await using connection = await connect({ url: wire.url }, { cache, clock, protocol: '2026-07-28' })
      await connection.tools()
    }
    await list()
    await list()
    expect(wire.count('tools/list')).toBe(1)
    now += 60_001
    await list()
    expect(wire.count('tools/list')).toBe(2)
  })

  test.each(['session', '2026-07-28'] as const)('saves the list of a process (%s)', async (protocol) => {
    const cache = open()
    const lines: string[] = []
    for (let i = 0; i < 3; i++) {
      const connection = await connect(server('identified.mjs'), { cache, protocol, onStderr: (line) => void lines.push(line) })
      expect(await connection.tools()).toHaveLength(3)
      await connection.close()
    }
    const count = (method: string): number => lines.filter((line) => line === `wire: ${method}`).length
    expect(count('tools/list')).toBe(1)
    expect(count('server/identity')).toBe(3)
  })
})

test('a server that announces a wrong identity is used, with a warning', async () => {
  const warnings: string[] = []
  await using connection = await connect(server('identified.mjs', 'lying'), {
    onWarning: (warning) => void warnings.push(warning),
  })
  expect(await connection.tools()).toHaveLength(3)
  expect(warnings).toEqual([
    expect.stringContaining('The identity 00000000-0000-8000-8000-000000000000 sent by the server does not match its tools'),
  ])
})

test('the expected identity is compared with the tools, not with the identity from the server', async () => {
  const { toolbox } = changeable(2)
  await using http = await serveToolbox(toolbox)
  await using first = await connect({ url: http.url })
  const expected = identityOfTools(await first.tools())
  expect((await first.identity())?.server_id).toBe(expected)
  await using second = await connect({ url: http.url }, { expectIdentity: expected?.toUpperCase() ?? '' })
  expect(await second.tools()).toHaveLength(2)
  const wrong = '11111111-1111-8111-8111-111111111111'
  expect(await failure(connect({ url: http.url }, { expectIdentity: wrong }))).toMatchObject({
    reason: 'identity_mismatch',
    details: { expected: wrong, actual: expected },
  })
  const lie = '00000000-0000-8000-8000-000000000000'
  expect(await failure(connect(server('identified.mjs', 'lying'), { expectIdentity: lie }))).toMatchObject({
    reason: 'identity_mismatch',
  })
})

test('an expected identity also works for servers without identity', async () => {
  await using connection = await connect(server('one.mjs'))
  const expectIdentity = identityOfTools(await connection.tools()) ?? ''
  expect(await connection.identity()).toBeUndefined()
  await using again = await connect(server('one.mjs'), { expectIdentity })
  expect(await again.tools()).toHaveLength(4)
})

test('an expected identity is checked again when the tools change', async () => {
  const { toolbox, put } = changeable(2)
  await using http = await serveToolbox(toolbox)
  await using first = await connect({ url: http.url })
  const expectIdentity = (await first.identity())?.server_id ?? ''
  await using connection = await connect({ url: http.url }, { expectIdentity })
  put('tool_9')
  expect(await failure(connection.tools())).toMatchObject({ reason: 'identity_mismatch' })
})

test('a damaged, foreign or newer cache file is ignored with a warning and replaced by the next list', async () => {
  const directory = join(folder, 'damaged')
  const warnings: string[] = []
  const cache = fileCache(directory, { onWarning: (warning) => void warnings.push(warning) })
  const { toolbox } = changeable(2)
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  const list = async (): Promise<void> => {
    await using connection = await connect({ url: wire.url }, { cache, name: 'it' })
    await connection.tools()
  }
  await list()
  const [file = ''] = await readdir(directory)
  expect(file).toMatch(/^it\.[0-9a-f]{32}\.json$/u)
  const whole = JSON.parse(await readFile(join(directory, file), 'utf8')) as Record<string, unknown>
  expect(whole).toMatchObject({ format: 'unfold-tool-cache', version: 1, name: 'it', view: '' })
  const spoilt = [
    '',
    '{"format":"unfold-tool-cache","version":1,"tools":[',
    JSON.stringify({ ...whole, format: 'something else' }),
    JSON.stringify({ ...whole, version: 2 }),
    JSON.stringify({ ...whole, tools: [{ name: 7 }] }),
    JSON.stringify({ ...whole, savedAt: 'yesterday' }),
    JSON.stringify({ ...whole, key: 'of another' }),
  ]
  for (const [index, text] of spoilt.entries()) {
    await writeFile(join(directory, file), text)
    await list()
    expect(warnings).toHaveLength(index + 1)
    expect(wire.count('tools/list')).toBe(index + 2)
  }
  await list()
  expect(wire.count('tools/list')).toBe(spoilt.length + 1)
  expect(warnings).toHaveLength(spoilt.length)
})

test('a cache that cannot be written causes only a warning', async () => {
  const directory = join(folder, 'occupied')
  await writeFile(directory, 'a file where the folder should be')
  const warnings: string[] = []
  const { toolbox } = changeable(2)
  await using http = await serveToolbox(toolbox)
  await using connection = await connect(
    { url: http.url },
    { cache: fileCache(directory), onWarning: (warning) => void warnings.push(warning) },
  )
  expect(await connection.tools()).toHaveLength(2)
  expect(warnings).toEqual([expect.stringContaining('could not be cached')])
})

test('an authenticated target without a credential name is not cached', async () => {
  const { toolbox } = changeable(2)
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  const cache = memoryCache()
  const auth = { token: async () => 'token' }
  for (let i = 0; i < 2; i++) {
    await using connection = await connect({ url: wire.url, auth }, { cache })
    await connection.tools()
  }
  expect(wire.count('tools/list')).toBe(2)
  for (let i = 0; i < 2; i++) {
    await using connection = await connect({ url: wire.url, auth }, { cache, credential: 'alice' })
    await connection.tools()
  }
  expect(wire.count('tools/list')).toBe(3)
})

const clearing = (timer: NodeJS.Timeout) => (): void => clearTimeout(timer)
