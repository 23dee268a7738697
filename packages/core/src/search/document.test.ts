import { expect, test } from 'vitest'
import type { Tool } from '../tool/tool.ts'
import { documentOf } from './document.ts'

const tool = (inputSchema: object): Tool => ({ name: 'search', inputSchema: { type: 'object', ...inputSchema } })

test('a document contains the texts and the context of a tool', () => {
  const document = documentOf(
    { name: 'add_label', title: 'Add a label', description: 'Put a label on an issue', inputSchema: { type: 'object' } },
    { source: 'github', server: 'github', group: 'labels', tags: ['issues'] },
  )
  expect(document).toEqual({
    id: 'add_label',
    name: 'add_label',
    title: 'Add a label',
    description: 'Put a label on an issue',
    source: 'github',
    server: 'github',
    group: 'labels',
    tags: ['issues'],
    parameters: [],
  })
})

test('the title can be in the annotations', () => {
  expect(documentOf({ ...tool({}), annotations: { title: 'Find' } }, { source: 's' }).title).toBe('Find')
})

test('nested parameters are read too, outer ones first', () => {
  const { parameters } = documentOf(
    tool({
      properties: {
        where: { type: 'object', properties: { city: { description: 'Which city' } } },
        tags: { type: 'array', items: { properties: { label: {} } } },
        when: { anyOf: [{ properties: { day: {} } }, { type: 'string' }] },
      },
    }),
    { source: 's' },
  )
  expect(parameters).toEqual([
    { name: 'where' },
    { name: 'tags' },
    { name: 'when' },
    { name: 'city', description: 'Which city' },
    { name: 'label' },
    { name: 'day' },
  ])
})

test('invalid schemas are skipped', () => {
  const { parameters } = documentOf(tool({ properties: { a: null, b: true, c: [], d: { description: 7 } } }), { source: 's' })
  expect(parameters).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }])
  expect(documentOf(tool({ properties: 'none' }), { source: 's' }).parameters).toEqual([])
})

test('a schema of any size is read partially', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { description: 'x'.repeat(200) }]),
  )
  expect(documentOf(tool({ properties }), { source: 's' }).parameters).toHaveLength(64)
})

test('a schema that branches endlessly, or contains itself, is read partially', () => {
  const endless: Record<string, unknown> = {}
  endless.anyOf = Array.from({ length: 1_000 }, () => endless)
  endless.items = endless
  expect(documentOf(tool(endless), { source: 's' }).parameters).toEqual([])
})
