import { acceptedContent, inputRequired } from '@modelcontextprotocol/server'
import { defineToolbox, ToolError } from '@unfold-mcp/server'
import { replyData } from '@unfold-mcp/server/testing'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { deferred } from '../deferred.ts'
import { office, searchSurface } from '../fixtures/office.ts'
import { reasonOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
const searching = { view: 'exposure=search' }

const callTool = (name: string, args?: Record<string, unknown>) => ({ name, ...(args !== undefined && { arguments: args }) })

verifies('F14', async ({ serve, testTransport }) => {
  const server = await serve(office())
  const client = await server.connect(searching)
  for (const name of [...searchSurface, 'manage_tools', 'activate_files', 'deactivate']) {
    const refused = await client.call('call_tool', callTool(name, { name: 'ping', query: '', action: 'list' }))
    expect(reasonOf(refused)).toBe('invalid_arguments')
    expect(textOf(refused)).toBe(`Call ${name} itself, not through another tool.`)
  }
  const nested = await client.call('call_tool', callTool('call_tool', callTool('call_tool', callTool('ping'))))
  expect(nested.isError).toBe(true)
  if (testTransport.era === 'session') expect(await client.toolNames()).toEqual(searchSurface)
})

verifies('L05-3', async ({ serve }) => {
  const failing = () => {
    throw new ToolError('no paper left')
  }
  const toolbox = office()
    .tool('count', { outputSchema: z.object({ total: z.number() }), group: 'files' }, () => ({ total: 3 }))
    .tool('print', { group: 'files' }, failing)
    .tool('draw', { group: 'files' }, () => [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }])
  const server = await serve(toolbox)
  const client = await server.connect(searching)
  const direct = await server.connect({ view: 'exposure=everything' })
  const calls: readonly (readonly [string, Record<string, unknown>?])[] = [
    ['read_file', { path: 'a.txt' }],
    ['send_mail', { to: 'ann@example.com', subject: 'Hello' }],
    ['count'],
    ['print'],
    ['draw'],
    ['ping'],
  ]
  for (const [name, args] of calls) {
    const { _meta: _ours, ...through } = await client.call('call_tool', callTool(name, args))
    const { _meta: _theirs, ...straight } = await direct.call(name, args)
    expect(through).toEqual(straight)
  }
  expect(await client.toolNames()).toEqual(searchSurface)
})

verifies('L05-4', async ({ connect }) => {
  const nested = z.object({ where: z.object({ city: z.string(), zip: z.string().length(5) }), count: z.int().min(3).max(9) })
  const toolbox = office()
    .tool('book', { group: 'calendar', description: 'Book', inputSchema: nested }, () => 'booked')
    .tool(
      'plain',
      {
        description: 'Plain',
        inputSchema: {
          type: 'object',
          properties: {
            size: { enum: ['s', 'm'] },
            when: { type: 'string', format: 'date' },
            n: { type: 'integer', minimum: 2 },
          },
          required: ['size', 'when', 'n'],
          additionalProperties: false,
        },
      },
      () => 'plainly',
    )
  const client = await connect(toolbox, searching)
  const wrong: readonly (readonly [string, Record<string, unknown>])[] = [
    ['read_file', {}],
    ['read_file', { path: 7 }],
    ['write_file', { path: 'a', txt: 'b' }],
    ['send_mail', { to: 'nobody', subject: '' }],
    ['send_mail', { to: 'ann@example.com', subject: 'Hello', copies: 'Bob' }],
    ['create_event', { name: 'Lunch', minutes: 1 }],
    ['create_event', { title: 'Lunch', day: 'tomorrow', kind: 'party', minutes: 60 }],
    ['book', {}],
    ['book', { count: 1, where: { city: 'Bern' } }],
    ['plain', { size: 'xl', n: 0, colour: 'red' }],
  ]
  for (const [name, args] of wrong) {
    const refused = await client.call('call_tool', callTool(name, args))
    expect(reasonOf(refused)).toBe('invalid_arguments')
    const { problems, example } = replyData(refused) as { problems: unknown[]; example: Record<string, unknown> }
    expect(problems.length).toBeGreaterThan(0)
    expect(textOf(refused)).toContain('Its schema: {"')
    expect(textOf(refused)).toContain(`For example: ${JSON.stringify({ name, arguments: example })}`)
    const next = await client.call('call_tool', callTool(name, example))
    expect({ name, args, example, error: next.isError === true && textOf(next) }).toMatchObject({ error: false })
  }
  const kept = await client.call('call_tool', callTool('send_mail', { to: 'ann@example.com', subject: 7 }))
  expect(replyData(kept)).toMatchObject({ example: { to: 'ann@example.com' } })
})

verifies('L05-5', async ({ serve }) => {
  const toolbox = office({ permit: (principal, { name }) => name !== 'delete_file' || principal?.id === 'ann' })
  const server = await serve(toolbox)
  const bob = await server.connect({ ...searching, principal: { id: 'bob' } })
  const replyText = async (name: string) => textOf(await bob.call('call_tool', callTool(name, { path: 'a' }))).replace(name, 'it')
  const unknown = await replyText('qwxzvvkjhgf')
  expect(await replyText('delete_file')).not.toContain('delete_file')
  expect((await replyText('lock_doors')).replace(/ Nearest: .*?\./u, '')).toBe(unknown)
  expect(reasonOf(await bob.call('call_tool', callTool('delete_file', { path: 'a' })))).toBe('unknown_tool')
  const ann = await server.connect({ ...searching, principal: { id: 'ann' } })
  expect(textOf(await ann.call('call_tool', callTool('delete_file', { path: 'a' })))).toBe('deleted a')
})

verifies('L05-6', async ({ connect }) => {
  const toolbox = defineToolbox(info).tool('dig', {}, async (_, ctx) => {
    await ctx.progress(1, 2, 'half')
    await ctx.progress(2, 2)
    return 'dug'
  })
  const { client } = await connect(toolbox, searching)
  const received: number[] = []
  const onprogress = ({ progress }: { progress: number }) => void received.push(progress)
  await client.callTool({ name: 'call_tool', arguments: { name: 'dig' } }, { onprogress })
  await vi.waitFor(() => expect(received).toEqual([1, 2]), { timeout: 60_000 })
})

verifies('L05-7', async ({ connect }) => {
  const [started, stopped] = [deferred(), deferred()]
  const toolbox = defineToolbox(info).tool('wait', {}, async (_, { signal }) => {
    signal.addEventListener('abort', stopped.resolve)
    started.resolve()
    await stopped.promise
    return 'stopped'
  })
  const { client } = await connect(toolbox, searching)
  const giveUp = new AbortController()
  const call = client.callTool({ name: 'call_tool', arguments: { name: 'wait' } }, { signal: giveUp.signal })
  const outcome = call.then(
    () => 'answered',
    () => 'given up',
  )
  await started.promise
  giveUp.abort()
  await stopped.promise
  expect(await outcome).toBe('given up')
})

verifies('L05-8', async ({ connect, testTransport }) => {
  const toolbox = defineToolbox({ ...info, facts: () => ({ colour: 'red' }) }).tool('who', {}, (_, ctx) => ({
    who: ctx.principal?.id,
    era: ctx.era,
    colour: ctx.facts.colour,
    hasClient: ctx.client !== undefined,
  }))
  const client = await connect(toolbox, { ...searching, principal: { id: 'ann' } })
  const { structuredContent } = await client.call('call_tool', { name: 'who' })
  expect(structuredContent).toEqual({ who: 'ann', era: testTransport.era, colour: 'red', hasClient: true })
})

verifies('L05-9', async ({ connect }) => {
  let isReady = false
  let fails = false
  const activate = () => {
    if (fails) throw new Error('no socket')
    isReady = true
  }
  const toolbox = defineToolbox({
    ...info,
    report: () => undefined,
    groups: { db: { description: 'Database', hooks: { activate } } },
  })
    .tool('query', { group: 'db', description: 'Ask the database' }, () => (isReady ? 'rows' : 'not ready'))
    .tool('ping', {}, () => 'pong')
  const client = await connect(toolbox, searching)
  const found = await client.call('search_tools', { query: 'ask the database' })
  expect(replyData(found)).toMatchObject({ names: ['query'] })
  expect(textOf(await client.call('call_tool', { name: 'query' }))).toContain('rows')
  expect(isReady).toBe(true)
  expect(await client.toolNames()).toEqual(searchSurface)
  fails = true
  const other = await connect(
    defineToolbox({ ...info, report: () => undefined, groups: { db: { description: 'Database', hooks: { activate } } } }).tool(
      'query',
      { group: 'db' },
      () => 'must not run',
    ),
    searching,
  )
  const refused = await other.call('call_tool', { name: 'query' })
  expect(refused.isError).toBe(true)
  expect(textOf(refused)).not.toContain('must not run')
})

verifies('L05-10', async ({ connect }) => {
  const named = z.object({ name: z.string() })
  const toolbox = defineToolbox(info).tool('greet', {}, (_, { inputResponses }) => {
    const answer = acceptedContent(inputResponses, 'name', named)
    if (answer !== undefined) return `Hello, ${answer.name}`
    return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who are you?', requestedSchema: named }) } })
  })
  const client = await connect(toolbox, searching)
  client.client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }))
  expect(textOf(await client.call('call_tool', { name: 'greet' }))).toBe('Hello, Ann')
})

verifies('L05-11', async ({ connect }) => {
  const client = await connect(office({ exposure: { callVariants: true } }), searching)
  const variants = ['call_tool_read', 'call_tool_write', 'call_tool_destructive']
  const tools = await client.tools()
  expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tools', ...variants])
  const hints = tools.slice(2).map(({ annotations: { readOnlyHint, destructiveHint } = {} }) => [readOnlyHint, destructiveHint])
  expect(hints).toEqual([
    [true, undefined],
    [false, false],
    [false, true],
  ])
  const kinds = { read_file: 'call_tool_read', write_file: 'call_tool_write', delete_file: 'call_tool_destructive' }
  for (const [tool, right] of Object.entries(kinds)) {
    for (const variant of variants) {
      const reply = await client.call(variant, callTool(tool, { path: 'a', text: 'b' }))
      if (variant === right) expect(reply.isError).not.toBe(true)
      else expect(textOf(reply)).toBe(`${tool} is called with ${right}.`)
    }
  }
  await expect(client.call('call_tool', { name: 'ping' })).rejects.toThrow('not found')
  expect(client.client.getInstructions()).toContain('call_tool_read, call_tool_write or call_tool_destructive')
})

verifies('L05-12', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
    .tool('read_file', { group: 'files', description: 'Read' }, () => 'contents')
    .tool('unpack', {}, async (_, ctx) => {
      await ctx.activate('files')
      return 'unpacked'
    })
  const client = await connect(toolbox)
  const reply = await client.call('call_tool', { name: 'unpack' })
  expect(textOf(reply)).toContain('unpacked')
  expect(textOf(reply)).toContain('- read_file() — Read')
  await client.waitForListChanges(1)
  await client.settle()
  expect(client.listChanges).toBe(1)
  expect(await client.toolNames()).toContain('read_file')
})

verifies('L05-13', async ({ connect }) => {
  const toolbox = office().tool('post_letter', { group: 'mail', aliases: ['mail_letter'] }, () => 'posted')
  const client = await connect(toolbox, searching)
  expect(textOf(await client.call('call_tool', { name: 'mail_letter' }))).toBe('posted')
})
