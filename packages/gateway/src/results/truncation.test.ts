import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '../../test/simulated-clock.ts'
import type { ProxiedCall } from '../middleware/chain.ts'
import type { ResultOwner } from './owner.ts'
import { ResultStore, type StoredResult, type StoreLimits } from './store.ts'
import { truncateResults } from './truncation.ts'

const limit = 1_000

async function cut(given: CallToolResult, limits: Partial<StoreLimits> = {}, hasOutputSchema = false, script?: object) {
  const kept: StoredResult[] = []
  class StatusSources extends ResultStore {
    override add(owner: ResultOwner, result: StoredResult): string | undefined {
      const handle = super.add(owner, result)
      if (handle !== undefined) kept.push(result)
      return handle
    }
  }
  const store = new StatusSources(new SimulatedClock(), limits)
  const middleware = truncateResults({ store, maxCharacters: () => limit, hasOutputSchema: () => hasOutputSchema })
  const call = {
    upstream: 'files',
    tool: 'read',
    ctx: { principal: undefined, era: 'session', scope: 's', signal: new AbortController().signal, script },
  }
  const result = (await middleware(call as unknown as ProxiedCall, async () => given)) as CallToolResult
  return { result, kept, texts: result.content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)) }
}

const text = (content: string): ContentBlock => ({ type: 'text', text: content })
const image = (characters: number): ContentBlock => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(characters) })

test('a result within the limit is the same object', async () => {
  const given: CallToolResult = { content: [text('x'.repeat(limit)), image(limit * 19)], structuredContent: { a: 1 } }
  expect((await cut(given)).result).toBe(given)
})

test('AT-K23-1 (Y23): a script gets long results completely', async () => {
  const given: CallToolResult = { content: [text('x'.repeat(10 * limit))], structuredContent: { a: 'x'.repeat(10 * limit) } }
  const { result, kept } = await cut(given, {}, true, { run: 'r' })
  expect(result).toBe(given)
  expect(kept).toEqual([])
})

describe('with many blocks', () => {
  test('those that fit are unchanged, one is truncated, and the rest is part of the same text', async () => {
    const link: ContentBlock = { type: 'resource_link', uri: 'file:///a', name: 'a' }
    const given = [text('a'.repeat(600)), link, image(100), text('b'.repeat(600)), text('c'), image(50)]
    const { texts, kept } = await cut({ content: given })
    expect(texts.slice(0, -1)).toEqual(['a'.repeat(600), '(resource_link)', '(image)', 'b'.repeat(limit - 600 - 16), '(image)'])
    const whole = ['a'.repeat(600), JSON.stringify(link), 'b'.repeat(600), 'c'].join('\n')
    const sent = whole.indexOf('b') + limit - 600 - 16
    expect(kept).toEqual([{ kind: 'text', text: whole, characters: whole.length, sent }])
    expect(texts.at(-1)).toContain(`first ${sent} of ${whole.length} characters`)
  })

  test('very many, or ones with large metadata, are limited too', async () => {
    const { result } = await cut({ content: Array.from({ length: 10_000 }, () => text('')) })
    expect(result.content.length).toBeLessThan(100)
    const labelled: ContentBlock = { type: 'text', text: 'short', _meta: { label: 'x'.repeat(50_000) } }
    expect(JSON.stringify((await cut({ content: [labelled] })).result).length).toBeLessThan(2_000)
    const named: ContentBlock = { type: 'image', mimeType: 'x'.repeat(50_000), data: 'AAAA' }
    expect(JSON.stringify((await cut({ content: [named] })).result).length).toBeLessThan(2_000)
  })

  test('the text of a resource is truncated like any other, and its file is described', async () => {
    const resource: ContentBlock = { type: 'resource', resource: { uri: 'file:///log', text: 'y'.repeat(5_000) } }
    const file: ContentBlock = {
      type: 'resource',
      resource: { uri: 'file:///z\u202E.zip', mimeType: 'application/zip', blob: 'A'.repeat(40_000) },
    }
    const { texts, kept } = await cut({ content: [file, resource] })
    expect(texts[0]).toMatch(/^\[File file:\/\/\/z\\u\{202e\}\.zip of type application\/zip, 30000 bytes, omitted/u)
    expect(texts[1]).toMatch(/^Resource file:\/\/\/log:\ny+$/u)
    expect(kept.map(({ kind }) => kind)).toEqual(['block', 'text'])
  })
})

describe('structured content that is too long', () => {
  const structuredContent = { rows: Array.from({ length: 200 }, (_, id) => ({ id })) }
  const json = JSON.stringify(structuredContent)

  test('is stored as text if there is no text, and not again if the text is the same', async () => {
    for (const content of [[], [text(json)], [text(JSON.stringify(structuredContent, null, 2))]]) {
      const { result, kept } = await cut({ content, structuredContent })
      expect(result.structuredContent).toBeUndefined()
      expect(result.isError).toBeUndefined()
      expect(kept.map((each) => each.kind === 'text' && JSON.parse(each.text))).toEqual([structuredContent])
    }
  })

  test('has its own handle if the text differs', async () => {
    const { texts, kept } = await cut({ content: [text('200 rows')], structuredContent })
    expect(texts[0]).toBe('200 rows')
    expect(texts[1]).toMatch(/^\[The structured content is omitted \(\d+ characters of JSON\): read it with read_result/u)
    expect(kept).toEqual([{ kind: 'text', text: json, characters: json.length, sent: 0 }])
  })

  test('turns a success into an error only if structured content was declared', async () => {
    expect((await cut({ content: [], structuredContent }, {}, true)).result.isError).toBe(true)
    const failed = await cut({ content: [text('no')], structuredContent, isError: true }, {}, true)
    expect(failed.result.isError).toBe(true)
    expect(failed.texts.at(-1)).not.toContain('did its work')
  })

  test('is omitted at any depth', async () => {
    let deep: Record<string, unknown> = { pad: 'x'.repeat(2_000) }
    for (let level = 0; level < 20_000; level++) deep = { deep }
    const { result } = await cut({ content: [text('deep')], structuredContent: deep })
    expect(result.structuredContent).toBeUndefined()
    expect(JSON.stringify(result)).toContain('nested too deeply')
  })
})

test('the beginning of a text that is too long to store is stored, and the result says so', async () => {
  const { texts, kept } = await cut({ content: [text('z'.repeat(9_000))] }, { bytesPerClient: 8_000 })
  expect(kept).toEqual([{ kind: 'text', text: 'z'.repeat(4_000), characters: 9_000, sent: limit }])
  expect(texts.at(-1)).toContain('only the first 4000 characters are stored')
  const { texts: lost } = await cut({ content: [image(60_000)] }, { bytesPerClient: 8_000 })
  expect(lost[0]).toContain('too large to send or store')
})

test('_meta is kept, unless it is too long itself', async () => {
  const { result } = await cut({ content: [text('a'.repeat(5_000))], _meta: { mine: 1 } })
  expect(Object.keys(result._meta ?? {})).toEqual(['mine', 'io.github.unfold-mcp/cut'])
  expect((await cut({ content: [], _meta: { mine: 'x'.repeat(5_000) } })).result).toEqual({ content: [] })
})
