import { inputRequired } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { scriptHandler, statelessCaller, textOf } from '../../../test/script-client.ts'
import { type TestClient, type TestServer, testServer } from '../../testing/index.ts'
import { defineToolbox } from '../../toolbox.ts'
import type { Handler } from '../../transports/handler.ts'

const created: string[] = []
const seen: unknown[] = []
let running = 0
let mostRunning = 0

const reading = { annotations: { readOnlyHint: true } }
const toolbox = defineToolbox({
  name: 'shop',
  version: '1.0.0',
  exposure: 'code',
  groups: { orders: { description: 'Orders' } },
  code: { limits: { parallelCalls: 3, calls: 60 } },
  permit: (principal: { id: string } | undefined, tool) => tool.name !== 'secret' || principal?.id === 'ann',
  report: () => undefined,
})
  .tool('read', { inputSchema: z.object({ id: z.number() }), ...reading }, async ({ id }) => {
    mostRunning = Math.max(mostRunning, ++running)
    await new Promise((resolve) => setTimeout(resolve, 5))
    running--
    return { id, name: `item ${id}` }
  })
  .tool('text', { ...reading }, () => 'plain text')
  .tool('context', { ...reading }, (_input, { script, meta }) => {
    seen.push({ script, meta })
    return 'ok'
  })
  .tool('secret', { ...reading }, () => 'only for Ann')
  .tool('create', { inputSchema: z.object({ title: z.string() }), group: 'orders' }, ({ title }) => {
    created.push(title)
    return { title }
  })
  .tool('broken', { ...reading }, () => {
    throw new Error('disk full')
  })
  .tool('ask_name', { ...reading }, (_input, { inputResponses, isRepeated }) => {
    if (isRepeated) return `Hello ${JSON.stringify(inputResponses?.who)}`
    const who = inputRequired.elicit({
      message: 'Who are you?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    })
    return inputRequired({ inputRequests: { who }, requestState: 'asked' })
  })

let handler: Handler
let sessions: TestServer
let client: TestClient
let messages: string[] = []
let answer: (message: string) => object = () => ({})
const progress: object[] = []

beforeAll(async () => {
  handler = scriptHandler(toolbox)
  sessions = await testServer(toolbox, { transport: 'memory', era: 'session' })
  client = await sessions.connect({ view: 'exposure=code' })
  client.client.setRequestHandler('elicitation/create', async ({ params }) => {
    messages.push(params.message)
    return answer(params.message) as never
  })
})
beforeEach(() => {
  created.length = 0
  seen.length = 0
  messages = []
})
afterAll(async () => {
  await sessions.close()
  await handler.close()
  await toolbox.close()
})

const choosing =
  (decision: string, further?: number) =>
  (message: string): object =>
    message.startsWith('A script')
      ? { action: 'accept', content: { decision, ...(further !== undefined && { further }) } }
      : { action: 'accept', content: { name: 'Ada' } }

/** Runs a script with a person who answers, in either era. */
async function run(era: 'session' | 'stateless', code: string, how = choosing('Run these calls'), input?: object) {
  const args = { code, ...(input !== undefined && { input }) }
  if (era === 'session') {
    answer = how
    return client.client.callTool({ name: 'run_code', arguments: args }, { onprogress: (each) => progress.push(each) })
  }
  const call = statelessCaller(handler)
  let reply = await call('run_code', args)
  for (let round = 0; reply.resultType === 'input_required' && round < 10; round++) {
    const requests = Object.entries(reply.inputRequests ?? {})
    messages.push(...requests.map(([, { params }]) => params.message))
    const inputResponses = Object.fromEntries(requests.map(([key, { params }]) => [key, how(params.message)]))
    reply = await call('run_code', args, { requestState: reply.requestState, inputResponses })
  }
  return reply as never as Awaited<ReturnType<TestClient['call']>>
}

const text = (result: { readonly content: readonly { readonly type: string }[] }): string => textOf(result)

test('AT-K40-1 (Y40): the exposure code lists three tools, and others list run_code where the author wants it', async () => {
  expect(await client.toolNames()).toEqual(['search_tools', 'describe_tools', 'run_code'])
  await using other = await testServer(
    defineToolbox({ name: 'x', version: '1', exposure: 'everything', code: true }).tool('a', {}, () => 1),
    {
      transport: 'memory',
      era: 'stateless',
    },
  )
  expect(await (await other.connect()).toolNames()).toEqual(['run_code', 'a'])
  expect(await (await other.connect({ view: 'exposure=search' })).toolNames()).toContain('run_code')
})

test('scripts that are turned off exist in no exposure', async () => {
  const off = defineToolbox({ name: 'x', version: '1', exposure: 'everything', code: false }).tool('a', {}, () => 1)
  await using other = await testServer(off, { transport: 'memory', era: 'stateless' })
  const plain = await other.connect()
  expect(await plain.toolNames()).toEqual(['a'])
  await expect(plain.call('run_code', { code: '1' })).rejects.toThrow('not found')
  await using session = await testServer(off, { transport: 'memory', era: 'session' })
  await expect(session.connect({ view: 'exposure=code' })).rejects.toThrow('turned off')
})

describe.each(['session', 'stateless'] as const)('in the era %s', (era) => {
  test('AT-K41-1 (Y41): a script calls tools, and what it returns is the result', async () => {
    const result = await run(
      era,
      `interface Item { id: number; name: string }
      const items: Item[] = await Promise.all([1, 2, 3].map((id) => tools.read({ id })))
      return { names: items.map((item) => item.name), text: await tools.text(), input }`,
      undefined,
      { a: 1 },
    )
    const value = { names: ['item 1', 'item 2', 'item 3'], text: 'plain text', input: { a: 1 } }
    expect(JSON.parse(text(result))).toEqual(value)
    expect(result.structuredContent).toEqual(value)
  })

  test('console output is separate from the result, and then there is no structured content that would hide it', async () => {
    const result = await run(era, 'console.log("one", { two: 2 }); return { three: 3 }')
    expect(result.content.map((block) => ('text' in block ? block.text : ''))).toEqual([
      '{"three":3}',
      expect.stringMatching(/^Console output:\none .*two/u),
    ])
    expect(result.structuredContent).toBeUndefined()
  })

  test('search and describe return data, of tools that this client may use', async () => {
    const result = await run(
      era,
      `const found = await search('read item')
      const [tool] = await describe(['read'])
      return { first: found[0].name, schema: tool.inputSchema.type, secret: (await describe(['secret'])).length }`,
    )
    expect(result.structuredContent).toEqual({ first: 'read', schema: 'object', secret: 0 })
  })

  test('AT-K42-1 (Y42): a failed call is an exception, and a tool that the client may not use does not exist', async () => {
    const result = await run(
      era,
      `const errors = []
      for (const call of [() => tools.broken(), () => tools.red({ id: 1 }), () => tools.secret(),
        () => tools.read({ id: 'x' }), () => tools.run_code({ code: '1' })])
        await call().catch((error) => errors.push([error.reason, error.message]))
      return errors`,
    )
    const errors = JSON.parse(text(result)) as [string, string][]
    expect(errors.map(([reason]) => reason)).toEqual([
      'tool_failed',
      'unknown_tool',
      'unknown_tool',
      'invalid_arguments',
      'unknown_tool',
    ])
    expect(errors[0]?.[1]).toContain('disk full')
    expect(errors[1]?.[1]).toContain('Line 2: There is no tool "red". Nearest: read')
    expect(errors[2]?.[1]).not.toContain('only for Ann')
    expect(errors[3]?.[1]).toMatch(/^Line 3: Invalid arguments for read/u)
  })

  test('AT-K43-1 (Y43): a script that fails replies with its place and with what it has done', async () => {
    const result = await run(
      era,
      `await tools.read({ id: 1 })
await tools.create({ title: 'kept' })
console.log('before')
throw new TypeError('no')`,
    )
    expect(result.isError).toBe(true)
    expect(text(result)).toContain('TypeError: no (line 4, column')
    expect(text(result)).toContain('read({"id":1}), line 1: done')
    expect(text(result)).toContain('create({"title":"kept"}), line 2: done')
    expect(text(result)).toContain('before')
  })

  test('a script that cannot be parsed is not run, and the error has its line', async () => {
    const result = await run(era, 'await tools.create({ title: "x" })\nconst = 3')
    expect(result.isError).toBe(true)
    expect(text(result)).toMatch(/line 2/u)
    expect(created).toEqual([])
  })

  test('AT-K44-1 (Y44): a person is asked once about all calls that wait', async () => {
    const code = `const all = await Promise.all(['a', 'b', 'c'].map((title) => tools.create({ title })))
      return all.length`
    expect(text(await run(era, code))).toBe('3')
    expect(created.toSorted()).toEqual(['a', 'b', 'c'])
    expect(messages).toEqual([expect.stringContaining('create (3 calls)')])
    expect(messages[0]).toContain('{"title":"a"}')
  })

  test('denied calls fail in the script, and are not made', async () => {
    const result = await run(
      era,
      'try { await tools.create({ title: "a" }) } catch (error) { return [error.reason, error.tool] }',
      choosing('Deny'),
    )
    expect(JSON.parse(text(result))).toEqual(['denied', 'create'])
    expect(created).toEqual([])
  })

  test('a person can confirm further calls of the same tools, up to a number, in one script', async () => {
    const code = 'for (let i = 0; i < 5; i++) await tools.create({ title: String(i) })'
    await run(era, code, choosing('Run these, and further calls of these tools in this script', 2))
    expect(created).toEqual(['0', '1', '2', '3', '4'])
    // The first, two further ones, and again.
    expect(messages).toHaveLength(2)
  })

  test('a tool that asks for input is answered, and continues', async () => {
    expect(text(await run(era, 'return await tools.ask_name()'))).toContain('Ada')
    expect(messages).toEqual(['Who are you?'])
  })

  test('calls run at the same time up to a limit', async () => {
    mostRunning = 0
    await run(era, 'await Promise.all(Array.from({ length: 9 }, (_, id) => tools.read({ id })))')
    expect(mostRunning).toBe(3)
  })

  test('a script that makes too many calls ends with the limit and what was done', async () => {
    const result = await run(era, 'for (let id = 0; ; id++) await tools.read({ id })')
    expect(result).toMatchObject({ isError: true, _meta: { 'io.github.unfold-mcp/reason': 'script_limit' } })
    expect(text(result)).toContain('read({"id":59})')
  })

  test('an endless loop ends with the limit', async () => {
    const slow = defineToolbox({ name: 'x', version: '1', exposure: 'code', code: { limits: { cpuMs: 300 } } }).tool(
      'a',
      {},
      () => 1,
    )
    await using other = await testServer(slow, { transport: 'memory', era })
    const result = await (await other.connect()).call('run_code', { code: 'for (;;);' })
    expect(result).toMatchObject({ isError: true, _meta: { 'io.github.unfold-mcp/reason': 'script_limit' } })
    await slow.close()
  })

  test('a script that waits for nothing fails at once', async () => {
    expect(text(await run(era, 'await new Promise(() => {})'))).toContain('waits for')
  })

  test('the tool knows the script and its line, and not the progress token', async () => {
    await run(era, '\nreturn tools.context()')
    expect(seen).toMatchObject([{ script: { line: 2, confirmation: 'none', run: expect.any(String) as string } }])
    expect(JSON.stringify(seen)).not.toContain('progressToken')
  })
})

test('AT-K45-1 (Y45): where nobody can be asked, nothing is changed', async () => {
  const call = statelessCaller(handler, { capabilities: {} })
  const reply = await call('run_code', { code: 'await tools.create({ title: "a" })' })
  expect(reply.isError).toBe(true)
  expect(textOf(reply)).toContain('cannot ask a person')
  expect(created).toEqual([])
})

test('without confirmation, everything runs', async () => {
  const bold = defineToolbox({ name: 'x', version: '1', exposure: 'code', code: { confirm: 'never' } }).tool(
    'write',
    {},
    () => 'written',
  )
  await using other = await testServer(bold, { transport: 'memory', era: 'stateless' })
  expect(text(await (await other.connect()).call('run_code', { code: 'return tools.write()' }))).toBe('written')
  await bold.close()
})

test('progress counts the calls', async () => {
  progress.length = 0
  await run('session', 'for (let id = 0; id < 4; id++) await tools.read({ id })')
  expect(progress.at(-1)).toMatchObject({ progress: 4, total: 4, message: '4 of 4 calls' })
})
