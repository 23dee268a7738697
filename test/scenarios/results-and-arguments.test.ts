import { defineToolbox, Failure, type Report, ToolRegistry } from '@unfold-mcp/server'
import { testContext } from '@unfold-mcp/server/testing'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { deferred } from '../deferred.ts'
import { reasonOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }

/** A toolbox that logs nothing, with one tool that always succeeds. */
const steady = (reports: Report[] = []) =>
  defineToolbox({ ...info, limits: { callTimeoutMs: 2_000 }, report: (report) => reports.push(report) }).tool(
    'ping',
    {},
    () => 'pong',
  )

verifies('R08-1', async ({ connect }) => {
  const toolbox = defineToolbox(info)
    .tool('zod', { inputSchema: z.object({ n: z.number().default(7) }) }, ({ n }) => `${n + 1}`)
    .tool('arktype', { inputSchema: type({ n: 'number', 'times?': '1 <= number <= 3' }) }, ({ n, times = 2 }) => `${n * times}`)
    .tool('valibot', { inputSchema: toStandardJsonSchema(v.object({ n: v.pipe(v.number(), v.integer()) })) }, ({ n }) =>
      n.toFixed(1),
    )
    .tool(
      'json',
      {
        inputSchema: {
          type: 'object',
          properties: { n: { type: 'number' } },
          required: ['n'],
          additionalProperties: false,
        } as const,
      },
      ({ n }) => `${n - 1}`,
    )
  const client = await connect(toolbox)
  for (const { inputSchema } of await client.tools()) {
    expect(inputSchema).toMatchObject({ type: 'object', properties: { n: expect.anything() } })
  }
  expect(textOf(await client.call('zod', {}))).toBe('8')
  expect(textOf(await client.call('arktype', { n: 4 }))).toBe('8')
  expect(textOf(await client.call('valibot', { n: 8 }))).toBe('8.0')
  expect(textOf(await client.call('json', { n: 9 }))).toBe('8')
  for (const name of ['zod', 'arktype', 'valibot', 'json']) {
    expect(reasonOf(await client.call(name, { n: 'eight' }))).toBe('invalid_arguments')
  }
})

verifies('B01', async ({ wire, testTransport }) => {
  const client = await wire(steady())
  const { error } = await client.askExactly('tools/call', undefined)
  expect(error?.code).toBe(-32602)
  // Without params, a 2026-07-28 request lacks the required envelope; the SDK rejects it.
  if (testTransport.era === 'session') expect(error?.data).toMatchObject({ reason: 'invalid_params' })
  expect(textOf((await client.ask('tools/call', { name: 'ping' })).result as never)).toBe('pong')
})

verifies('B02', async ({ wire }) => {
  const client = await wire(steady())
  for (const params of [{}, { arguments: {} }, { name: 7 }, { name: null }]) {
    const { error } = await client.ask('tools/call', params)
    expect(error).toMatchObject({ code: -32602, data: { reason: 'invalid_params' } })
    expect(error?.message).toContain('params.name')
  }
})

verifies('B03', async ({ wire }) => {
  const toolbox = steady().tool('echo', { inputSchema: z.object({ word: z.string().default('none') }) }, ({ word }) => word)
  const client = await wire(toolbox)
  const [without, empty] = [{ name: 'echo' }, { name: 'echo', arguments: {} }]
  expect((await client.ask('tools/call', without)).text).toBe((await client.ask('tools/call', empty)).text)
  expect(textOf((await client.ask('tools/call', without)).result as never)).toBe('none')
})

verifies('B04', async ({ wire }) => {
  const client = await wire(steady().tool('read_file', {}, () => ''))
  const { error } = await client.ask('tools/call', { name: 'raed_file' })
  expect(error).toEqual({
    code: -32602,
    message: 'Tool "raed_file" not found. Nearest: read_file. List the tools to see what there is.',
    data: { reason: 'unknown_tool', name: 'raed_file', nearest: ['read_file'] },
  })
})

verifies('B06', () => {
  const names = ['search_tools', 'describe_tools', 'call_tool', 'manage_tools', 'activate_files', 'deactivate']
  const refused = (work: () => unknown) => expect(work).toThrow(expect.objectContaining({ reason: 'reserved_name' }))
  for (const name of names) {
    const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
    refused(() => toolbox.tool(name, {}, () => ''))
    refused(() => toolbox.tool('list', { aliases: [name] }, () => ''))
    const registry = new ToolRegistry()
    toolbox.use(registry)
    refused(() => registry.register(name, {}, () => ''))
  }
  refused(() => defineToolbox({ ...info, gate: 'Everything' }).tool('activate', {}, () => ''))
})

verifies('B07', () => {
  const refused = (work: () => unknown) => {
    expect(work).toThrow(Failure)
    expect(work).toThrow(expect.objectContaining({ reason: 'invalid_name' }))
  }
  for (const name of ['', 'two words', 'slash/ed', 'naïve', 'new\nline', 'x'.repeat(129)]) {
    refused(() => defineToolbox(info).tool(name, {}, () => ''))
    refused(() => new ToolRegistry().register(name, {}, () => ''))
    refused(() => defineToolbox({ ...info, groups: { [name]: { description: 'Misnamed' } } }))
  }
  expect(() =>
    defineToolbox(info)
      .tool('A-z_0.9', {}, () => '')
      .tool('y'.repeat(128), {}, () => ''),
  ).not.toThrow()
})

verifies('B08', async ({ connect }) => {
  const input = z.object({ name: z.string(), size: z.number().int(), at: z.object({ x: z.number() }), tags: z.array(z.string()) })
  const client = await connect(steady().tool('make', { inputSchema: input }, () => 'made'))
  const wrong = await client.call('make', { size: 1.5, at: { x: 'left' }, tags: ['a', 2] })
  expect(reasonOf(wrong)).toBe('invalid_arguments')
  const lines = textOf(wrong).split('\n')
  expect(lines.filter((line) => line.startsWith('- ')).map((line) => line.split(':')[0])).toEqual([
    '- name',
    '- size',
    '- at.x',
    '- tags.1',
  ])
  expect(lines.at(-1)).toBe('Correct them and call again.')
})

verifies('B09', async ({ wire }) => {
  let seen: unknown
  const input = { type: 'object', properties: { options: { type: 'object' } } } as const
  const toolbox = steady().tool('merge', { inputSchema: input }, (given) => {
    seen = given
    const copy = { ...given, ...(given.options as object | undefined) }
    return String((copy as { polluted?: unknown }).polluted)
  })
  const client = await wire(toolbox)
  const hostile = JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"options":{"__proto__":{"polluted":1}}}',
  )
  const answer = await client.ask('tools/call', { name: 'merge', arguments: hostile })
  expect(answer.error === undefined ? textOf(answer.result as never) : 'undefined').toBe('undefined')
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  expect(seen === undefined || Object.getPrototypeOf(seen) === Object.prototype).toBe(true)
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    expect((await client.ask('tools/call', { name })).error?.data).toMatchObject({ reason: 'unknown_tool' })
  }
  expect(textOf((await client.ask('tools/call', { name: 'ping' })).result as never)).toBe('pong')
})

verifies('B10', async ({ connect }) => {
  const reports: Report[] = []
  const toolbox = steady(reports)
    .tool('throws', {}, () => {
      throw new Error('The disk is full')
    })
    .tool('rejects', {}, () => Promise.reject(new TypeError('Not a number')))
    .tool('odd', {}, () => {
      throw 'a string'
    })
  const client = await connect(toolbox)
  for (const [name, message] of Object.entries({ throws: 'The disk is full', rejects: 'Not a number', odd: 'a string' })) {
    const failed = await client.call(name)
    expect(reasonOf(failed)).toBe('tool_failed')
    expect(textOf(failed)).toBe(message)
  }
  expect(reports.map(({ reason }) => reason)).toEqual(['tool_failed', 'tool_failed', 'tool_failed'])
  expect(textOf(await client.call('ping'))).toBe('pong')
})

verifies('B11', async ({ connect }) => {
  let stopped = false
  const toolbox = steady().tool('hangs', { timeoutMs: 40 }, (_, { signal }) => {
    signal.addEventListener('abort', () => {
      stopped = true
    })
    return new Promise<string>(() => undefined)
  })
  const client = await connect(toolbox)
  const [hung, answered] = await Promise.all([client.call('hangs'), client.call('ping')])
  expect(reasonOf(hung)).toBe('tool_timeout')
  expect(textOf(hung)).toContain('Tool "hangs" did not finish within')
  expect(textOf(answered)).toBe('pong')
  expect(stopped).toBe(true)
  expect(textOf(await client.call('ping'))).toBe('pong')
})

verifies('B12', async ({ connect }) => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const garbage: Record<string, unknown> = {
    map: new Map([['a', 1]]),
    instance: new (class Point {
      readonly #x = 1
      get x() {
        return this.#x
      }
    })(),
    nested: { rows: new Map([['a', 1]]) },
    set: { rows: [new Set([1])] },
    bigint: 7n,
    mixed: [{ type: 'text', text: 'fine' }, 'not a block'],
    circular,
    function: () => 'later',
    content: { content: ['no block'] },
    untyped: { content: [{ type: 'text' }] },
  }
  const toolbox = steady().tool('shaped', { outputSchema: z.object({ total: z.number() }) }, () => ({ total: 'many' }) as never)
  for (const [name, value] of Object.entries(garbage)) toolbox.tool(name, {}, () => value as never)
  const client = await connect(toolbox)
  for (const name of [...Object.keys(garbage), 'shaped']) {
    const result = await client.call(name)
    expect([name, reasonOf(result)]).toEqual([name, 'invalid_result'])
    expect(textOf(result)).toContain(`Tool "${name}" returned an invalid result`)
  }
  expect(textOf(await client.call('ping'))).toBe('pong')
})

verifies('P01', async ({ connect }) => {
  const fromJson = { toJSON: () => ({ total: 3 }) }
  const toolbox = steady()
    .tool('count', {}, () => 42)
    .tool('none', {}, () => 0)
    .tool('exists', {}, async () => false)
    .tool('bare', {}, () => Object.assign(Object.create(null) as object, { total: 1 }))
    .tool('own', {}, () => Object.assign(Object.create(fromJson) as object, { hidden: 1 }))
  const client = await connect(toolbox)
  for (const [name, text] of Object.entries({ count: '42', none: '0', exists: 'false' }))
    expect(await client.call(name)).toMatchObject({ content: [{ type: 'text', text }] })
  expect((await client.call('count')).structuredContent).toBeUndefined()
  expect((await client.call('bare')).structuredContent).toEqual({ total: 1 })
  expect((await client.call('own')).structuredContent).toEqual({ total: 3 })
})

verifies('P23', async ({ connect }) => {
  const tree = {
    type: 'object',
    properties: { tree: { $ref: '#/$defs/node' } },
    $defs: {
      node: {
        oneOf: ['and', 'or'].map((kind) => ({
          type: 'object',
          properties: { kind: { const: kind }, left: { $ref: '#/$defs/node' } },
          required: ['kind'],
        })),
      },
    },
  } as const
  const nested = (depth: number): object => (depth === 0 ? { kind: 'or' } : { kind: 'or', left: nested(depth - 1) })
  const toolbox = steady()
    .tool('filter', { inputSchema: tree }, () => 'filtered')
    .tool('deep', { outputSchema: tree }, () => ({ tree: nested(60) }))
  const client = await connect(toolbox)
  expect(textOf(await client.call('filter', { tree: nested(8) }))).toBe('filtered')
  const refused = await client.call('filter', { tree: nested(60) })
  expect(reasonOf(refused)).toBe('invalid_arguments')
  expect(textOf(refused)).toMatch(
    /^- tree\.left.*takes more than 1,000,000 steps.*Send fewer elements at once, or nest them less$/mu,
  )
  const deep = await client.call('deep')
  expect(reasonOf(deep)).toBe('invalid_result')
  expect(textOf(deep)).toContain('takes more than 1,000,000 steps')
  expect(textOf(await client.call('ping'))).toBe('pong')
})

test('a result that JSON cannot represent is answered with what to return instead', async () => {
  await using context = await testContext(
    steady()
      .tool('map', {}, () => new Map())
      .tool('error', {}, () => new TypeError('no'))
      .tool('url', {}, () => new AbortController())
      .tool('nested', {}, () => ({ a: { b: new Set([1]) } })),
  )
  const text = async (name: string) => textOf(await context.call(name))
  expect(await text('map')).toContain(
    'it returned an instance of Map, and JSON keeps only plain objects. Return Object.fromEntries(map).',
  )
  expect(await text('error')).toContain('it returned an instance of TypeError, and JSON keeps only plain objects. Throw it.')
  expect(await text('url')).toContain('it returned an instance of AbortController')
  expect(await text('nested')).toContain('"b" is an instance of Set; use an object or an array')
})

/** A toolbox with a tool that never returns, and the state of its calls. */
const endless = () => {
  const [begun, stopped] = [deferred(), deferred()]
  const toolbox = steady().tool('endless', { timeoutMs: 60_000 }, (_, { signal }) => {
    signal.addEventListener('abort', stopped.resolve)
    begun.resolve()
    return new Promise<string>(() => undefined)
  })
  return { toolbox, begun: begun.promise, stopped: stopped.promise }
}

verifies('B13', async ({ serve, wire }) => {
  const { toolbox, begun } = endless()
  const server = await serve(toolbox)
  const other = await server.connect()
  const client = await wire(toolbox)
  client.ask('tools/call', { name: 'endless' }).catch(() => undefined)
  await begun
  client.vanish()
  expect(textOf(await other.call('ping'))).toBe('pong')
  const next = await server.connect()
  expect(textOf(await next.call('ping'))).toBe('pong')
})

verifies('B14', async ({ wire }) => {
  const { toolbox, begun, stopped } = endless()
  const client = await wire(toolbox)
  client.ask('tools/call', { name: 'endless' }).catch(() => undefined)
  await begun
  await client.leave()
  await stopped
})
