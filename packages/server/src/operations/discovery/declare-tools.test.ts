import { expect, test } from 'vitest'
import { z } from 'zod'
import { ToolRegistry } from '../../registry.ts'
import type { TestContext } from '../../testing/context.ts'
import { testContext } from '../../testing/index.ts'
import { defineToolbox } from '../../toolbox.ts'

interface Office {
  rows: unknown
}

function office({ rows }: Office) {
  const box = defineToolbox({
    name: 'office',
    version: '1.0.0',
    permit: (principal, { name }) => name !== 'vault' || principal?.id === 'ann',
  })
  box.tool(
    'db__rows',
    { description: 'Rows of a table. */ alert(1)', input: z.object({ table: z.string() }) },
    () => rows as object,
  )
  box.tool('db__fail', { description: 'Fails' }, () => ({ content: [{ type: 'text', text: '{"hint":1}' }], isError: true }))
  box.tool('json_text', { description: 'JSON as text' }, () => '[{"at":"now"}]')
  box.tool('time', { description: 'Time', output: z.object({ now: z.number() }) }, () => ({ now: 1 }))
  box.tool('vault', { description: 'Secrets' }, () => 'x')
  return box
}

async function declared(client: TestContext, ...names: readonly string[]): Promise<string> {
  const { content } = await client.call('describe_tools', { names, as: 'typescript' })
  const [block] = content
  return block?.type === 'text' ? block.text : ''
}

const view = 'exposure=search'

test('AT-K20-1 (Y20): describes tools as TypeScript, with the result of an output schema', async () => {
  await using client = await testContext(office({ rows: {} }), { view })
  expect(await declared(client, 'db__rows', 'time', 'vault', 'nothing')).toMatchInlineSnapshot(`
    "declare const tools: {
      db: {
        /** Rows of a table. *\\/ alert(1) */
        rows(args: { table: string }): Promise<unknown>
      }
      /** Time */
      time(): Promise<{ now: number }>
    }
    // Unknown tool "vault".
    // Unknown tool "nothing"."
  `)
})

test('AT-K21-1 (Y21): learns the result of a tool without an output schema from its own successful calls', async () => {
  const box = office({ rows: { rows: [{ id: 7, name: 'Ada' }], 'ada@example.com': true } })
  await using client = await testContext(box, { view })
  expect(await declared(client, 'db__fail')).toContain('fail(): Promise<unknown>')
  await client.call('call_tool', { name: 'db__fail' })
  await client.call('call_tool', { name: 'db__rows', arguments: { table: 'people' } })
  await client.call('call_tool', { name: 'json_text' })
  const text = await declared(client, 'db__fail', 'db__rows', 'json_text')
  expect(text).toContain('fail(): Promise<unknown>')
  expect(text).toContain('Promise</* observed, not guaranteed */ Record<string, boolean | { id: number, name: string }[]>>')
  expect(text).toContain('json_text(): Promise</* observed, not guaranteed */ { at: string }[]>')
  expect(text).not.toContain('Ada')
})

test('AT-K21-2: shows a learned result only to the principal whose calls it comes from', async () => {
  const box = office({ rows: { salary: 1 } })
  await using ann = await testContext(box, { view, principal: { id: 'ann' } })
  await using annLater = await testContext(box, { view, principal: { id: 'ann' }, era: 'stateless' })
  await using bob = await testContext(box, { view, principal: { id: 'bob' } })
  await using session = await testContext(box, { view })
  await ann.call('call_tool', { name: 'db__rows', arguments: { table: 'people' } })
  expect(await declared(annLater, 'db__rows')).toContain('salary')
  expect(await declared(bob, 'db__rows')).toContain('Promise<unknown>')
  expect(await declared(session, 'db__rows')).toContain('Promise<unknown>')
})

test('AT-K21-3: forgets what it learned when the definition of the tool changes', async () => {
  const registry = new ToolRegistry()
  const box = office({ rows: {} })
  box.use(registry)
  registry.register('people', { description: 'All people' }, () => ({ salary: 1 }))
  await using client = await testContext(box, { view })
  await client.call('call_tool', { name: 'people' })
  expect(await declared(client, 'people')).toContain('salary')
  registry.unregister('people')
  registry.register('people', { description: 'Some people' }, () => ({ age: 1 }))
  expect(await declared(client, 'people')).toContain('people(): Promise<unknown>')
})

test('AT-K20-2: a tool with the name of a server keeps the full names of the tools that would be below it', async () => {
  const box = office({ rows: {} })
  box.tool('db', { description: 'All data' }, () => 'x')
  await using client = await testContext(box, { view })
  expect(await declared(client, 'db__rows', 'db')).toMatch(/db__rows\(args: .*\n.*\n {2}db\(\)/u)
})
