import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { confirmed, scriptHandler, statelessCaller, textOf } from '../../../test/script-client.ts'
import type { ScriptRunRecord } from '../../catalog/code-options.ts'
import { type TestClient, type TestServer, testServer } from '../../testing/index.ts'
import { defineToolbox } from '../../toolbox.ts'
import type { Handler } from '../../transports/handler.ts'

const reading = { annotations: { readOnlyHint: true } }
const created: string[] = []
const callers: unknown[] = []
const runs: ScriptRunRecord[] = []
let folder: string

const toolbox = defineToolbox({
  name: 'shop',
  version: '1.0.0',
  exposure: 'everything',
  groups: { orders: { description: 'Orders' } },
  hiddenCalls: 'opaque',
  limits: { concurrency: 1, queue: 9 },
  code: { listed: false, limits: { calls: 20 }, ran: (run) => void runs.push(run) },
  permit: (principal: { id: string } | undefined, tool) => !['secret', 'vault'].includes(tool.name) || principal?.id === 'ann',
  report: () => undefined,
})
  .tool('read', { inputSchema: z.object({ id: z.number() }), ...reading }, ({ id }, { principal, script }) => {
    callers.push({ principal: principal?.id, isScript: script !== undefined })
    return { id, name: `item ${id}` }
  })
  .tool('create', { inputSchema: z.object({ title: z.string() }) }, ({ title }) => {
    created.push(title)
    return { title }
  })
  .tool('secret', { ...reading }, () => 'only for Ann')
  .tool('vault', { ...reading }, () => 'gold')
  .script('names', {
    description: 'Names of items.',
    readOnly: true,
    input: z.object({ ids: z.array(z.number()).max(10) }),
    output: z.object({ names: z.array(z.string()) }),
    code: `interface Item { name: string }
export default async function ({ ids }: { ids: number[] }) {
  console.log('reading', ids.length)
  const items: Item[] = await Promise.all(ids.map((id) => tools.read({ id })))
  return { names: items.map(({ name }) => name) }
}`,
  })
  .script('wrong_result', {
    description: 'Returns something else than it declares.',
    output: z.object({ count: z.number() }),
    code: 'export default () => ({ count: "many" })',
  })
  .script('file_two', {
    description: 'Creates two items.',
    input: z.object({ titles: z.array(z.string()) }),
    code: `export default async ({ titles }) => {
  const { title } = await tools.create({ title: titles[0] })
  await tools.create({ title: titles[1] })
  return title
}`,
  })
  .script('spy', { description: 'Tries to use a secret tool.', readOnly: true, code: 'export default () =>\n  tools.secret()' })
  .script('look', { description: 'Looks around.', readOnly: true, code: 'export default () => search("secret vault gold")' })
  .script('treasurer', {
    description: 'Uses a granted tool.',
    readOnly: true,
    grants: ['vault'],
    code: 'export default () => tools.vault()',
  })
  .script('thief', {
    description: 'Uses a tool that another script was granted.',
    readOnly: true,
    code: `export default async () => {
  const own = await tools.vault().catch(({ reason }) => reason)
  const lent = await tools.treasurer()
  return [own, lent]
}`,
  })
  .script('twice', { description: 'Names twice.', readOnly: true, code: 'export default () => tools.names({ ids: [1] })' })
  .script('thrice', { description: 'Names thrice.', readOnly: true, code: 'export default () => tools.twice()' })
  .script('private_state', {
    description: 'Counts its runs.',
    readOnly: true,
    code: 'let runs = 0\nglobalThis.total = (globalThis.total ?? 0) + 1\nexport default () => [++runs, globalThis.total]',
  })

let handler: Handler
let sessions: TestServer
let client: TestClient
let messages: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-stored-'))
  handler = scriptHandler(toolbox)
  sessions = await testServer(toolbox, { transport: 'memory', era: 'session' })
  client = await sessions.connect()
  client.client.setRequestHandler('elicitation/create', async ({ params }) => {
    messages.push(params.message)
    return { action: 'accept', content: { decision: 'Run these calls' } } as never
  })
})
beforeEach(() => {
  created.length = 0
  callers.length = 0
  runs.length = 0
  messages = []
})
afterAll(async () => {
  await sessions.close()
  await handler.close()
  await toolbox.close()
  await rm(folder, { recursive: true })
})

const stateless = (id?: string) => statelessCaller(handler, { view: '', ...(id !== undefined && { principal: { id } }) })

describe('a stored script', () => {
  test('AT-K48-1 (Y48): is a tool with a schema, and returns structured content without its console output', async () => {
    const { tools } = await client.client.listTools()
    expect(tools.find(({ name }) => name === 'names')).toMatchObject({
      inputSchema: { required: ['ids'] },
      outputSchema: { required: ['names'] },
      annotations: { readOnlyHint: true },
    })
    const result = await client.call('names', { ids: [1, 2] })
    expect(result).toMatchObject({
      structuredContent: { names: ['item 1', 'item 2'] },
      content: [{ type: 'text', text: '{"names":["item 1","item 2"]}' }],
    })
    expect(await stateless()('names', { ids: [3] })).toMatchObject({ structuredContent: { names: ['item 3'] } })
    expect(callers).toContainEqual({ principal: undefined, isScript: true })
  })

  test('has its arguments and its result checked like those of any tool', async () => {
    expect(textOf(await stateless()('names', { ids: 'all' }))).toContain('ids')
    expect(callers).toEqual([])
    expect(textOf(await stateless()('wrong_result', {}))).toContain('count')
  })

  test('AT-K48-2: asks about writes in both eras, and continues without repeating a call', async () => {
    const titles = ['a', 'b']
    expect(textOf((await client.call('file_two', { titles })) as never)).toBe('a')
    expect(messages).toHaveLength(2)
    expect(created).toEqual(['a', 'b'])
    const call = stateless('ann')
    const first = await call('file_two', { titles })
    expect(first.inputRequests?.confirm?.params.message).toContain('create (1 call)')
    const second = await call('file_two', { titles }, { requestState: first.requestState, inputResponses: confirmed() })
    const done = await call('file_two', { titles }, { requestState: second.requestState, inputResponses: confirmed() })
    expect(textOf(done)).toBe('a')
    expect(created).toEqual(['a', 'b', 'a', 'b'])
  })

  test('AT-K48-3: a paused script continues only for its caller, its arguments and its own name', async () => {
    const titles = ['a', 'b']
    const { requestState } = await stateless('ann')('file_two', { titles })
    const answer = { requestState, inputResponses: confirmed() }
    for (const reply of [
      await stateless('ben')('file_two', { titles }, answer),
      await stateless('ann')('file_two', { titles: ['c', 'd'] }, answer),
      await stateless('ann')('names', { ids: [1] }, answer),
    ])
      expect(textOf(reply)).toContain('altered, belongs to another caller or another script')
    expect(created).toEqual([])
  })

  test('AT-K49-1 (Y49): cannot see or call what its caller may not use', async () => {
    const reply = await stateless('ben')('spy', {})
    expect(textOf(reply)).toContain('There is no tool "secret"')
    expect(textOf(reply)).toContain('line 2')
    expect(textOf(await stateless('ann')('spy', {}))).toBe('only for Ann')
    expect(textOf(await stateless('ben')('look', {}))).not.toContain('vault')
  })

  test('AT-K49-2: a grant is for one script and one tool, and does not extend to its caller or to other scripts', async () => {
    const call = stateless('ben')
    expect(textOf(await call('treasurer', {}))).toBe('gold')
    await expect(call('vault', {})).rejects.toThrow('vault')
    expect(await call('thief', {})).toMatchObject({ structuredContent: ['unknown_tool', 'gold'] })
  })

  test('AT-K49-3: shares nothing with other runs and other clients', async () => {
    for (const id of ['ann', 'ben', 'ann'])
      expect(await stateless(id)('private_state', {})).toMatchObject({ structuredContent: [1, 1] })
  })

  test('can be called by a script, which ends the chain', async () => {
    expect(await stateless()('twice', {})).toMatchObject({ structuredContent: { names: ['item 1'] } })
    const [inner, outer] = runs
    expect(inner).toMatchObject({ stored: 'names', parent: outer?.run, input: { ids: [1] } })
    expect(outer).toMatchObject({ stored: 'twice', outcome: 'returned', calls: 1 })
    expect(textOf(await stateless()('thrice', {}))).toContain('cannot call a third one')
  })

  test('comes from a file, or is refused without one', async () => {
    const file = join(folder, 'hello.ts')
    await writeFile(file, 'export default ({ name }: { name: string }) => "Hello " + name')
    const box = defineToolbox({ name: 'files', version: '1.0.0' }).script('hello', {
      description: 'Greets.',
      input: z.object({ name: z.string() }),
      file,
    })
    await using server = await testServer(box, { transport: 'memory', era: 'session' })
    const greeted = await (await server.connect()).call('hello', { name: 'Ann' })
    expect(textOf(greeted as never)).toBe('Hello Ann')
    await box.close()
    expect(() => box.script('none', { description: 'Nothing.' })).toThrow('neither code nor a file')
  })
})
