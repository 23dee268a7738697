import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { testContext } from './testing/index.ts'
import { defineToolbox } from './toolbox.ts'

const info = { name: 'hub', version: '1.0.0' }

describe('a handler gets input of the type that its schema declares', () => {
  test('zod, with defaults applied', async () => {
    const box = defineToolbox(info).tool(
      'echo',
      { inputSchema: z.object({ text: z.string(), times: z.number().default(2) }) },
      (input) => {
        expectTypeOf(input).toEqualTypeOf<{ text: string; times: number }>()
        return input.text.repeat(input.times)
      },
    )
    await using client = await testContext(box)
    expect(await client.call('echo', { text: 'ab' })).toEqual({ content: [{ type: 'text', text: 'abab' }] })
  })

  test('arktype', async () => {
    const box = defineToolbox(info).tool('echo', { inputSchema: type({ text: 'string', 'loud?': 'boolean' }) }, (input) => {
      expectTypeOf(input.text).toEqualTypeOf<string>()
      return input.loud === true ? input.text.toUpperCase() : input.text
    })
    await using client = await testContext(box)
    expect(await client.call('echo', { text: 'ab', loud: true })).toEqual({ content: [{ type: 'text', text: 'AB' }] })
    expect(await client.call('echo', { text: 1 })).toMatchObject({ isError: true })
  })

  test('valibot, through its JSON Schema adapter', async () => {
    const box = defineToolbox(info).tool(
      'echo',
      { inputSchema: toStandardJsonSchema(v.object({ text: v.string() })) },
      (input) => {
        expectTypeOf(input).toEqualTypeOf<{ text: string }>()
        return input.text
      },
    )
    await using client = await testContext(box)
    expect(client.tools()[0]?.inputSchema).toMatchObject({ type: 'object', required: ['text'] })
    expect(await client.call('echo', { text: 'ab' })).toEqual({ content: [{ type: 'text', text: 'ab' }] })
  })

  test('plain JSON Schema', async () => {
    const input = {
      type: 'object',
      properties: {
        text: { type: 'string' },
        mode: { enum: ['loud', 'quiet'] },
        tags: { type: 'array', items: { type: 'string' } },
        limit: { type: ['integer', 'null'] },
      },
      required: ['text', 'tags'],
      additionalProperties: false,
    } as const
    const box = defineToolbox(info).tool('echo', { inputSchema: input }, (given) => {
      expectTypeOf(given).toEqualTypeOf<{ text: string; tags: string[]; mode?: 'loud' | 'quiet'; limit?: number | null }>()
      return given.tags.join()
    })
    await using client = await testContext(box)
    expect(await client.call('echo', { text: 'x', tags: ['a', 'b'] })).toEqual({ content: [{ type: 'text', text: 'a,b' }] })
    const wrong = await client.call('echo', { mode: 'shy', tags: [1], more: true })
    const [block] = wrong.content
    expect(block).toMatchObject({ type: 'text' })
    expect(block?.type === 'text' ? block.text : '').toBe(
      [
        'Invalid arguments for echo:',
        "- arguments: must have required property 'text'",
        '- arguments: unknown property "more"',
        '- mode: must be one of "loud", "quiet"',
        '- tags.0: must be string',
        'Correct them and call again.',
      ].join('\n'),
    )
  })

  test('no schema', async () => {
    const box = defineToolbox(info).tool('ping', {}, (input) => {
      expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>()
      return 'pong'
    })
    await using client = await testContext(box)
    expect(await client.call('ping')).toEqual({ content: [{ type: 'text', text: 'pong' }] })
  })
})

describe('group names are checked by the compiler', () => {
  const groups = {
    files: { description: 'Files' },
    cloud: { description: 'Cloud' },
    aws: { description: 'AWS', parent: 'cloud' },
  } as const

  test('a tool in an unknown group', () => {
    // @ts-expect-error 'flies' is not a group of this toolbox
    expect(() => defineToolbox({ ...info, groups }).tool('read', { group: 'flies' }, () => '')).toThrow('Unknown group "flies"')
  })

  test('an unknown parent, exclusion or requirement', () => {
    // @ts-expect-error 'clod' is not a group of this toolbox
    expect(() => defineToolbox({ ...info, groups: { cloud: {}, aws: { parent: 'clod' } } })).toThrow('Nearest: cloud')
    // @ts-expect-error 'gpc' is not a group of this toolbox
    expect(() => defineToolbox({ ...info, groups: { gcp: {}, aws: { excludes: ['gpc'] } } })).toThrow('Nearest: gcp')
    // @ts-expect-error 'bd' is not a group of this toolbox
    expect(() => defineToolbox({ ...info, groups: { db: {}, app: { needs: ['bd'] } } })).toThrow('Nearest: db')
  })

  test('activating an unknown group in a handler', () => {
    defineToolbox({ ...info, groups }).tool('open', { group: 'files' }, (_input, ctx) => {
      // @ts-expect-error 'could' is not a group of this toolbox
      void ctx.activate('could')
    })
  })
})

describe('an invalid declaration throws', () => {
  test('the same tool twice', () => {
    const box = defineToolbox(info).tool('ping', {}, () => '')
    expect(() => box.tool('ping', {}, () => '')).toThrow('declared twice in hub')
  })

  test('an input that is not an object', () => {
    expect(() => defineToolbox(info).tool('bad', { inputSchema: z.string() }, () => '')).toThrow('arguments are always an object')
  })

  test('a page size of zero', () => {
    expect(() => defineToolbox({ ...info, protocol: { pageSize: 0 } })).toThrow('pageSize must be a whole number above 0')
  })
})

test('an alias that is the name of another tool is rejected at declaration, in either order', () => {
  const box = () => defineToolbox(info).tool('list_files', { aliases: ['ls'] }, () => '')
  expect(() => box().tool('ls', {}, () => '')).toThrow('"ls" and "list_files" share the name "ls"')
  expect(() => box().tool('dir', { aliases: ['list_files'] }, () => '')).toThrow('share the name "list_files"')
  expect(() => box().tool('list_files', { version: '2', aliases: ['ls'] }, () => '')).not.toThrow()
})

test('the parameters of hooks are typed, and group names are checked', () => {
  const box = defineToolbox({
    ...info,
    groups: {
      files: { description: 'Files', hooks: { activate: ({ scope }) => void expectTypeOf(scope).toEqualTypeOf<string>() } },
      drafts: { description: 'Drafts', parent: 'files' },
    },
  })
  // @ts-expect-error 'fils' is not a group of this toolbox
  expect(() => box.tool('read', { group: 'fils' }, () => '')).toThrow('Nearest: files')
  // @ts-expect-error 'fils' is not declared beside it
  expect(() => defineToolbox({ ...info, groups: { drafts: { description: 'Drafts', parent: 'fils' } } })).toThrow('refers to it')
})

test.each([
  ['no handler', ['search', { description: 'Search' }], 'Tool "search" has no handler. Declare it as tool(name,'],
  ['no configuration', ['search', () => 'x'], 'Tool "search" has no configuration. Declare it as tool(name,'],
])('a tool with %s is rejected when it is declared', (_what, declaration, message) => {
  const box = defineToolbox(info) as unknown as { tool(...declared: readonly unknown[]): void }
  expect(() => box.tool(...declaration)).toThrow(message)
})
