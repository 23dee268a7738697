import type { CallToolResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestClient } from '../../server/src/testing/client.ts'
import { type Asking, composition, eras, plain } from './composition.ts'
import { textOf } from './result-text.ts'

const rows = { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] }
const mcpServers = {
  files: plain({ tools: ['read', { name: 'query', outputSchema: rows }] }),
}
const limit = 2_000
const config = {
  mcpServers,
  exposure: 'everything',
  results: { maxCharacters: limit },
  profiles: { all: { servers: ['files'] } },
}
let gateway: Awaited<ReturnType<typeof composition>>

beforeAll(async () => {
  gateway = await composition(config)
})

afterAll(() => gateway[Symbol.asyncDispose]())

const cutOf = ({ _meta }: CallToolResult): { handle: string; characters: number; sent: number } =>
  _meta?.['io.github.unfold-mcp/cut'] as never
const lastOf = (result: CallToolResult): string => textOf({ content: result.content.slice(-1) })
const bodyOf = (result: CallToolResult): string => textOf({ content: result.content.slice(0, -1) })

describe.each(eras)('over HTTP in the era "%s"', (era) => {
  test('a long text is returned in parts that end at line breaks, and joined are the whole', async () => {
    const client = await gateway.connect({ era, listens: false })
    expect(await client.toolNames()).toContain('read_result')
    const whole = Array.from({ length: 500 }, (_, each) => `line ${each} of 500`).join('\n')
    const first = await client.call('files__read', { make: { lines: 500 }, meta: { mine: 1 } })
    const { handle, characters, sent } = cutOf(first)
    expect({ characters, isError: first.isError, mine: first._meta?.mine }).toEqual({ characters: whole.length, mine: 1 })
    expect(lastOf(first)).toContain(
      `first ${sent} of ${whole.length} characters. Continue with read_result {"handle":"${handle}"`,
    )
    let read = bodyOf(first)
    expect(read).toBe(whole.slice(0, sent))
    expect(read.endsWith('\n')).toBe(true)
    expect(sent).toBeLessThanOrEqual(limit)
    // Without an offset, it continues after the first part.
    const second = await client.call('read_result', { handle })
    read += bodyOf(second)
    for (let round = 0; read.length < whole.length && round < 20; round++)
      read += bodyOf(await client.call('read_result', { handle, offset: read.length }))
    expect(read).toBe(whole)
    const beyond = await client.call('read_result', { handle, offset: whole.length })
    expect(beyond.isError).toBe(true)
    expect(textOf(beyond)).toContain(`The result has ${whole.length} characters.`)
    expect(bodyOf(await client.call('read_result', { handle, offset: 0, limit: 6 }))).toBe('line 0')
  })

  test('no character is split, on any page', async () => {
    const client = await gateway.connect({ era, listens: false })
    const first = await client.call('files__read', { make: { symbols: 3_000 } })
    const { handle, sent } = cutOf(first)
    expect(bodyOf(first)).toBe('😀'.repeat(sent / 2))
    // An offset in the middle of a character is moved to its beginning.
    expect(bodyOf(await client.call('read_result', { handle, offset: sent + 1, limit: 5 }))).toBe('😀😀')
  })

  test('read_result finds text in a truncated result, with positions', async () => {
    const client = await gateway.connect({ era, listens: false })
    const { handle } = cutOf(await client.call('files__read', { make: { lines: 500 } }))
    const found = await client.call('read_result', { handle, find: 'LINE 444 of' })
    const at = Number(/at (\d+):/u.exec(textOf(found))?.[1])
    expect(bodyOf(await client.call('read_result', { handle, offset: at, limit: 15 }))).toBe('line 444 of 500')
    expect(textOf(await client.call('read_result', { handle, find: '.*' }))).toContain('No matches for')
    const many = await client.call('read_result', { handle, find: 'of 500' })
    const next = JSON.parse(/More matches: read_result (\{.*?\})/u.exec(lastOf(many))?.[1] ?? '{}')
    expect(bodyOf(many).split('\n')).toHaveLength(21)
    expect(bodyOf(await client.call('read_result', next))).toContain(`- at ${next.offset}:`)
  })

  test('errors are truncated as well and stay errors', async () => {
    const client = await gateway.connect({ era, listens: false })
    const failed = await client.call('files__read', { make: { lines: 500 }, isError: true })
    expect(failed.isError).toBe(true)
    expect(cutOf(failed).characters).toBeGreaterThan(limit)
    expect(textOf(failed).length).toBeLessThan(limit + 500)
  })

  test('declared structured content is complete or, in a result marked as an error, omitted', async () => {
    const client = await gateway.connect({ era, listens: false })
    // A client that listed the tool validates every result against the schema.
    await client.client.listTools()
    const small = await client.call('files__query', { make: { rows: 3 } })
    expect(small.structuredContent).toEqual({ rows: [0, 1, 2].map((id) => ({ id, name: `row ${id}` })) })
    const large = await client.call('files__query', { make: { rows: 300 } })
    expect(large.structuredContent).toBeUndefined()
    expect(large.isError).toBe(true)
    expect(lastOf(large)).toContain('The tool succeeded')
    const { handle, characters } = cutOf(large)
    let read = bodyOf(large)
    for (let round = 0; read.length < characters && round < 20; round++)
      read += bodyOf(await client.call('read_result', { handle, offset: read.length }))
    expect(JSON.parse(read).rows).toHaveLength(300)
    // Without an output schema, the text alone is a complete result.
    const plainly = await client.call('files__read', { make: { rows: 300 } })
    expect(plainly.isError).not.toBe(true)
    expect(plainly.structuredContent).toBeUndefined()
  })

  test('an image that is too large is described in its place and available by its handle', async () => {
    const client = await gateway.connect({ era, listens: false })
    const small = await client.call('files__read', { make: { image: 20_000 } })
    expect(small.content.map(({ type }) => type)).toEqual(['image'])
    const large = await client.call('files__read', { make: { image: 60_000 } })
    expect(textOf(large)).toMatch(/^\[Image of type image\/png, 60000 bytes, omitted: get it with read_result/u)
    const handle = /"handle":"([^"]+)"/u.exec(textOf(large))?.[1]
    const { content } = await client.call('read_result', { handle })
    expect(content[0]).toMatchObject({ type: 'image', mimeType: 'image/png', data: Buffer.alloc(60_000, 7).toString('base64') })
    expect((await client.call('read_result', { handle, find: 'x' })).isError).toBe(true)
  })
})

test('a handle is useless to other clients, which cannot find out whether it exists', async () => {
  const connect = (asking: Asking): Promise<TestClient> => gateway.connect({ ...asking, listens: false })
  const long = async (client: TestClient): Promise<string> =>
    cutOf(await client.call('files__read', { make: { lines: 500 } })).handle
  const reading = async (client: TestClient, handle: string): Promise<string> =>
    textOf(await client.call('read_result', { handle, limit: 6, offset: 0 }))
  const session = await connect({})
  const stateless = await connect({ era: 'stateless' })
  const others = [await connect({}), await connect({ at: '/all' }), await connect({ era: 'stateless', at: '/all' })]
  const unknown = await reading(session, 'nonsense')
  expect(unknown).toContain('Unknown or expired handle')
  for (const [owner, stranger] of [
    [session, stateless],
    [stateless, session],
  ] as const) {
    const handle = await long(owner)
    expect(await reading(owner, handle)).toContain('line 0')
    for (const other of [stranger, ...others]) expect(await reading(other, handle)).toBe(unknown)
  }
  // Without a session, only the principal distinguishes clients: the next request may use another connection.
  expect(await reading(await connect({ era: 'stateless' }), await long(stateless))).toContain('line 0')
})

test('a change of the limit applies from the next call on', async () => {
  const client = await gateway.connect({ listens: false })
  expect(cutOf(await client.call('files__read', { make: { lines: 500 } }))).toBeDefined()
  await gateway.edit({ ...config, results: { maxCharacters: 100_000 } })
  expect(cutOf(await client.call('files__read', { make: { lines: 500 } }))).toBeUndefined()
})
