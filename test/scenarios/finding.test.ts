import type { Tool } from '@modelcontextprotocol/client'
import { defineToolbox, type Principal, ToolRegistry } from '@unfold-mcp/server'
import { replyData } from '@unfold-mcp/server/testing'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect } from 'vitest'
import { office, officeTools } from '../fixtures/office.ts'
import { reasonOf, textOf } from '../replies.ts'
import { type Harness, verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
const howToAsk = 'name the app, the verb and the object'

/** Connects a client to a server with search exposure, with helpers for searching. */
async function searching(harness: Pick<Harness, 'connect'>, served: object, principal?: Principal) {
  const client = await harness.connect(served, { view: 'exposure=search', ...(principal !== undefined && { principal }) })
  const search = (query: string, more: Record<string, unknown> = {}) => client.call('search_tools', { query, ...more })
  const found = async (query: string, more?: Record<string, unknown>) =>
    (replyData(await search(query, more)) as { names: readonly string[] }).names
  return { client, search, found }
}

const isAdmin = (principal: Principal | undefined): boolean => principal?.id === 'ann'

/** A server with tools for one principal, and the same server without these tools. */
const secured = (withSecrets: boolean) => {
  const groups: Record<string, { description: string }> = { files: { description: 'Files' } }
  if (withSecrets) groups.vault = { description: 'Secrets of the house' }
  const toolbox = defineToolbox({
    ...info,
    groups,
    permit: (principal, { name }) => !name.startsWith('unseal') || isAdmin(principal),
  })
    .tool('read_file', { group: 'files', description: 'Read a file' }, () => 'contents')
    .tool('write_file', { group: 'files', description: 'Write a file' }, () => 'wrote')
  if (!withSecrets) return toolbox
  return toolbox
    .tool('unseal_vault', { group: 'vault', description: 'Unseal the vault of secrets' }, () => 'unsealed')
    .tool('unseal_file', { group: 'files', description: 'Unseal a file of secrets' }, () => 'unsealed')
}

verifies('F13-1', async (harness) => {
  const ann = await searching(harness, secured(true), { id: 'ann' })
  expect(await ann.found('unseal the vault')).toContain('unseal_vault')
  const { client, search } = await searching(harness, secured(true), { id: 'bob' })
  for (const query of ['unseal the vault', 'unseal_vault', 'secrets', '', 'read a file']) {
    const reply = await search(query)
    // The reply repeats the query, so the name may appear only there.
    expect(textOf(reply).replace(`"${query}"`, '')).not.toMatch(/unseal|vault|secret/u)
    expect(replyData(reply)).toMatchObject({ total: 2 })
  }
  expect(textOf(await client.call('describe_tools', { names: ['unseal_vaults'] }))).not.toContain('Nearest')
  expect(textOf(await client.call('call_tool', { name: 'unseal_vaults' }))).not.toContain('Nearest')
  expect(JSON.stringify(await client.tools())).not.toMatch(/vault|unseal/u)
})

verifies('F13-2', async (harness) => {
  let night = false
  const { client, search, found } = await searching(harness, office({ facts: () => ({ night }) }))
  const reply = await search('lock doors of the house')
  expect(replyData(reply)).toMatchObject({ total: officeTools.length })
  expect(textOf(reply)).not.toContain('lock_doors')
  expect(textOf(await client.call('describe_tools', { names: ['lock_door'] }))).not.toContain('Nearest')
  night = true
  expect(await found('lock doors of the house')).toEqual(['lock_doors'])
  expect(textOf(await client.call('describe_tools', { names: ['lock_door'] }))).toContain('Nearest: lock_doors')
})

verifies('F15', async (harness) => {
  const { search } = await searching(harness, office())
  for (const query of ['', '  \n ']) {
    const lines = textOf(await search(query)).split('\n')
    expect(lines).toEqual([
      `${officeTools.length} tools:`,
      '- files (3): read_file, write_file, delete_file',
      '- mail (2): send_mail, search_mail',
      '- calendar (1): create_event',
      '- without a group (1): ping',
    ])
  }
  expect(textOf(await search('', { group: 'mail' }))).toBe('2 tools:\n- mail (2): send_mail, search_mail')
})

verifies('F16', async (harness) => {
  const toolbox = defineToolbox(info)
    .tool('create_calendar_event', { description: '创建日历事件' }, () => '')
    .tool('send_message', { description: 'メッセージを送信する' }, () => '')
    .tool('translate_text', { description: 'แปลข้อความเป็นภาษาอื่น' }, () => '')
    .tool('weather', { description: 'Погода в городе' }, () => '')
    .tool('cafe', { description: 'Ein Café in der Nähe finden' }, () => '')
  const { found } = await searching(harness, toolbox)
  for (const [query, name] of [
    ['日历事件', 'create_calendar_event'],
    ['メッセージ送信', 'send_message'],
    ['แปลข้อความ', 'translate_text'],
    ['погода', 'weather'],
    ['CAFE nahe', 'cafe'],
  ] as const)
    expect((await found(query))[0]).toBe(name)
})

verifies('F17', async (harness) => {
  const { search } = await searching(harness, office())
  for (const query of ['book a flight to Lisbon', 'qwxz vvkj', '量子计算']) {
    const reply = await search(query)
    expect(reply.isError).not.toBe(true)
    expect(replyData(reply)).toMatchObject({ confidence: 'none', names: [] })
    expect(textOf(reply)).toContain(`No match for "${query}" among ${officeTools.length} tools.`)
    expect(textOf(reply)).toContain(howToAsk)
    expect(textOf(reply).split('\n')).toHaveLength(1)
  }
})

verifies('F18', async ({ serve }) => {
  for (const callVariants of [false, true]) {
    const server = await serve(office({ exposure: { callVariants } }))
    for (const exposure of ['search', 'lazy']) {
      const tools = await (await server.connect({ view: `exposure=${exposure}` })).tools()
      expect(tools.filter(({ title }) => (title ?? '').trim() === '')).toEqual([])
      expect(new Set(tools.map(({ title }) => title)).size).toBe(tools.length)
    }
  }
})

verifies('F19-1', async (harness) => {
  const registry = new ToolRegistry()
  const register = (description: string) => registry.register('job', { description }, () => 'done')
  register('Water the plants')
  const { found } = await searching(harness, defineToolbox(info).use(registry))
  expect(await found('water plants')).toEqual(['job'])
  registry.unregister('job')
  register('Polish the silver')
  expect(await found('polish silver')).toEqual(['job'])
  expect(await found('water plants')).toEqual([])
})

verifies('F19-2', async (harness) => {
  const registry = new ToolRegistry()
  const { found } = await searching(harness, office().use(registry))
  expect(await found('water the plants')).toEqual([])
  registry.register('water_plants', { description: 'Water the plants' }, () => 'done')
  expect((await found('water the plants'))[0]).toBe('water_plants')
  expect(await found('read a file')).toContain('read_file')
})

verifies('F19-3', async (harness) => {
  const registry = new ToolRegistry()
  const unregister = registry.register('water_plants', { description: 'Water the plants' }, () => 'done')
  const { search, found } = await searching(harness, office().use(registry))
  expect(await found('water the plants')).toEqual(['water_plants'])
  unregister()
  const reply = await search('water the plants')
  expect(replyData(reply)).toMatchObject({ names: [], total: officeTools.length })
})

verifies('L04-1', async (harness) => {
  const { search, found } = await searching(harness, office())
  const [, first] = textOf(await search('write a file')).split('\n')
  expect(first).toBe('- write_file(path: string, text: string) — Write a file')
  expect((await found('send mail'))[0]).toBe('send_mail')
  for (const name of officeTools) expect((await found(name))[0]).toBe(name)
})

verifies('L04-2', async (harness) => {
  const { client, search } = await searching(harness, office())
  expect(textOf(await search('write_file', { detail: 'names', limit: 1 })).split('\n')[1]).toBe('- write_file')
  const [, full = ''] = textOf(await search('write_file', { detail: 'full', limit: 1 })).split('\n')
  const described = textOf(await client.call('describe_tools', { names: ['write_file'] }))
  expect(full).toBe(described)
  expect(JSON.parse(full)).toMatchObject({ name: 'write_file', inputSchema: { required: ['path', 'text'] } })
})

verifies('L04-3', async (harness) => {
  const { search } = await searching(harness, office())
  expect(textOf(await search('file', { limit: 2 }))).toMatch(new RegExp(`2 of ${officeTools.length} tools[:)]`, 'u'))
  expect(replyData(await search('file', { limit: 2 }))).toMatchObject({ total: officeTools.length })
  expect(textOf(await search('file', { limit: 1, group: 'files' }))).toMatch(/1 of 3 tools[:)]/u)
})

verifies('L04-4', async (harness) => {
  const { found } = await searching(harness, office())
  const everything = { limit: 50 }
  expect(await found('file', { ...everything, group: 'mail' })).not.toContain('read_file')
  expect(await found('read write delete file', { ...everything, tags: ['storage'] })).not.toContain('delete_file')
  const readOnly = await found('read write delete file', { ...everything, readOnly: true })
  expect(readOnly).toContain('read_file')
  expect(readOnly).not.toContain('write_file')
  expect(await found('read write delete file', { ...everything, tags: [], readOnly: false })).toContain('delete_file')
})

/** Eighty similar tools among many different ones. */
const notebook = () => {
  const toolbox = defineToolbox(info)
  for (let index = 0; index < 80; index++) toolbox.tool(`note_${index}`, { description: 'Take a note' }, () => '')
  for (let index = 0; index < 600; index++) toolbox.tool(`paint_${index}`, { description: `Paint picture ${index}` }, () => '')
  return toolbox
}

verifies('L04-5', async (harness) => {
  const { found } = await searching(harness, notebook())
  expect(await found('take note')).toHaveLength(5)
  expect(await found('take note', { limit: 12 })).toHaveLength(12)
  expect(await found('take note', { limit: 80 })).toHaveLength(50)
})

verifies('L04-6', async (harness) => {
  const { search } = await searching(harness, office())
  for (const query of ['letters', '']) {
    const refused = await search(query, { group: 'mial' })
    expect(reasonOf(refused)).toBe('unknown_group')
    expect(textOf(refused)).toContain('mail')
  }
})

verifies('L04-7', async ({ wire }) => {
  const principal = { id: 'bob' }
  const [full, lacking] = [
    await wire(secured(true), { view: 'exposure=search', principal }),
    await wire(secured(false), { view: 'exposure=search', principal }),
  ]
  const queries = ['unseal the vault', 'unseal_file', 'secret', 'read a file', 'raed fiel', '', '!!']
  const calls = [
    ...queries.map((query) => ({ name: 'search_tools', arguments: { query } })),
    { name: 'search_tools', arguments: { query: 'file', group: 'vault' } },
    { name: 'search_tools', arguments: { query: 'file', detail: 'full', limit: 50 } },
    { name: 'describe_tools', arguments: { names: ['unseal_vault', 'read_file'] } },
    { name: 'call_tool', arguments: { name: 'unseal_vault' } },
    { name: 'call_tool', arguments: { name: 'unseal_file', arguments: { a: 1 } } },
    { name: 'manage_tools', arguments: { action: 'list' } },
    { name: 'manage_tools', arguments: { action: 'status' } },
    { name: 'manage_tools', arguments: { action: 'enable', tools: ['unseal_vault', 'read_file'] } },
  ]
  for (const call of calls) expect((await full.ask('tools/call', call)).text).toBe((await lacking.ask('tools/call', call)).text)
})

verifies('L05-1', async (harness) => {
  const { client } = await searching(harness, office())
  const names = ['send_mail', 'create_event', 'ping']
  const reply = await client.call('describe_tools', { names: [...names, 'ping'] })
  const whole = await harness.connect(office(), { view: 'exposure=everything' })
  const listed = new Map((await whole.tools()).map((tool) => [tool.name, tool]))
  const described = textOf(reply)
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string })
  expect(described.map(({ name }) => name)).toEqual(names)
  for (const tool of described) expect(tool).toMatchObject(listed.get(tool.name) ?? {})
  expect(replyData(reply)).toMatchObject({ names })
})

verifies('L05-2', async (harness) => {
  const { client } = await searching(harness, office())
  const reply = await client.call('describe_tools', { names: ['raed_file', 'ping'] })
  expect(reply.isError).not.toBe(true)
  expect(textOf(reply)).toContain('Unknown tool "raed_file". Nearest: read_file')
  expect(textOf(reply)).toContain('"name":"ping"')
  expect(reasonOf(await client.call('describe_tools', { names: ['raed_file'] }))).toBe('unknown_tool')
  expect(reasonOf(await client.call('describe_tools', { names: [] }))).toBe('unknown_tool')
})

/** A toolbox with twenty groups of one tool each. */
const twentyGroups = (options: { readonly exposure?: 'lazy' } = {}) => {
  const names = Array.from({ length: 20 }, (_, index) => `department_${index}`)
  const groups: Record<string, { description: string }> = Object.fromEntries(
    names.map((name) => [name, { description: `All of ${name}` }]),
  )
  const toolbox = defineToolbox({ ...info, groups, ...options })
  for (const name of names) toolbox.tool(`report_${name}`, { group: name, description: 'Report' }, () => '')
  return toolbox
}

/** Tokens that a model reads, and tokens including titles and annotations. No host passes `_meta` to a model. */
const costs = (tools: readonly Tool[]) => ({
  read: countTokens(JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))),
  whole: countTokens(JSON.stringify(tools.map(({ _meta, ...tool }) => tool))),
})

verifies('P10', async ({ connect }) => {
  const client = await connect(office(), { view: 'exposure=search' })
  for (const names of [['read_file', 'ping'], '["read_file","ping"]', ' [ "read_file", "ping" ] ']) {
    const described = textOf(await client.call('describe_tools', { names }))
    expect(described).toContain('"name":"read_file"')
    expect(described).toContain('"name":"ping"')
  }
  expect(textOf(await client.call('describe_tools', { names: 'ping' }))).toContain('"name":"ping"')
  expect(reasonOf(await client.call('describe_tools', { names: '[7]' }))).toBe('invalid_arguments')
  const tagged = await client.call('search_tools', { query: '', tags: ['storage'] })
  for (const tags of ['storage', '["storage"]']) expect(await client.call('search_tools', { query: '', tags })).toEqual(tagged)
  const listed = textOf(await client.call('manage_tools', { action: 'describe', tools: '["read_file"]' }))
  expect(listed).toContain('"name":"read_file"')
})

verifies('P12', async ({ connect }) => {
  const one = () => defineToolbox({ name: 'one', version: '1.0.0' }).tool('ping', { description: 'Ping' }, () => 'pong')
  const client = await connect(one(), { view: 'exposure=search' })
  const texts = [
    await client.call('search_tools', { query: '' }),
    await client.call('search_tools', { query: 'ping' }),
    await client.call('search_tools', { query: 'tax return' }),
    await client.call('manage_tools', { action: 'list' }),
    await client.call('manage_tools', { action: 'status' }),
  ].map(textOf)
  expect(texts.filter((text) => /\b1 tools/u.test(text))).toEqual([])
  expect(texts[1]).toContain('1 of 1 tool')
  expect(texts[2]).toContain('No match for "tax return" among 1 tool.')
})

verifies('L06-1', async ({ connect }) => {
  const tools = await (await connect(twentyGroups(), { view: 'exposure=search' })).tools()
  expect(tools).toHaveLength(3)
  const { read, whole } = costs(tools)
  console.info(`search_tools, describe_tools and call_tool: ${read} tokens to read, ${whole} with titles and annotations`)
  expect(whole).toBeLessThan(350)
})

verifies('L06-2', async ({ connect }) => {
  const tools = await (await connect(twentyGroups({ exposure: 'lazy' }))).tools()
  expect(tools.map(({ name }) => name)).toEqual(['manage_tools'])
  const { read, whole } = costs(tools)
  console.info(`manage_tools: ${read} tokens to read, ${whole} with title and annotations`)
  expect(whole).toBeLessThan(350)
})

verifies('L06-3', async ({ connect, testTransport }) => {
  const many = await (await connect(twentyGroups(), { view: 'exposure=search' })).tools()
  const description = many.find(({ name }) => name === 'search_tools')?.description
  expect(description).toMatch(/Groups: department_0, .*department_7 and 12 more\.$/u)
  const few = await (await connect(office(), { view: 'exposure=search' })).tools()
  expect(few[0]?.description).toMatch(/Groups: files, mail, calendar\.$/u)
  if (testTransport.era === 'stateless') return
  const [manage] = await (await connect(twentyGroups({ exposure: 'lazy' }))).tools()
  expect(manage?.description).toMatch(/ and 12 more\.$/u)
})

verifies('L06-4', async (harness) => {
  const { client } = await searching(harness, office())
  const calls: readonly (readonly [string, Record<string, unknown>])[] = [
    ['search_tools', { query: 'read file' }],
    ['search_tools', { query: '' }],
    ['search_tools', { query: 'qwxz' }],
    ['describe_tools', { names: ['read_file'] }],
    ['manage_tools', { action: 'list' }],
    ['manage_tools', { action: 'enable', tools: 'ping' }],
    ['manage_tools', { action: 'status' }],
    ['manage_tools', { action: 'reset' }],
  ]
  for (const [name, args] of calls) {
    const reply = await client.call(name, args)
    const { cost } = replyData(reply) as { cost: number }
    const exact = countTokens(textOf(reply))
    expect(cost).toBeGreaterThan(exact * 0.6)
    expect(cost).toBeLessThan(exact * 1.6 + 5)
  }
})

verifies('L06-5', async ({ serve }) => {
  const server = await serve(secured(true))
  for (const exposure of ['search', 'lazy']) {
    const [first] = await (await server.connect({ view: `exposure=${exposure}`, principal: { id: 'bob' } })).tools()
    expect(first?.description).toMatch(/Groups: files\.$/u)
  }
  const gated = await serve(defineToolbox({ ...info, gate: 'All of it' }).tool('ping', {}, () => 'pong'))
  const [first] = await (await gated.connect({ view: 'exposure=lazy' })).tools()
  expect(first?.description).not.toContain('Groups')
})

verifies('B16', async (harness) => {
  const { search } = await searching(harness, office())
  const queries = [
    '!?.,;:',
    '---',
    '\u0301\u0302\u0303'.repeat(500),
    '.*',
    '(((((',
    '[a-',
    '\\',
    '(a+)+$',
    '%00',
    '\u0000',
    '😀',
    '"',
  ]
  for (const query of queries) {
    const reply = await search(query)
    expect(reply.isError).not.toBe(true)
    expect(replyData(reply)).toMatchObject({ confidence: 'none', names: [] })
    expect(textOf(reply)).toContain(howToAsk)
  }
  expect(replyData(await search('(read) [file]+'))).toMatchObject({ confidence: 'strong' })
})

verifies('B17', async (harness) => {
  const { search, found } = await searching(harness, notebook())
  for (const [limit, count] of [
    [0, 1],
    [-1, 1],
    [-1e9, 1],
    [1e9, 50],
    [Number.MAX_SAFE_INTEGER, 50],
  ] as const)
    expect(await found('take note', { limit })).toHaveLength(count)
  for (const limit of ['NaN', 'five', null, 1.5, [5], {}]) {
    const refused = await search('take note', { limit })
    expect(reasonOf(refused)).toBe('invalid_arguments')
    expect(textOf(refused)).toContain('limit')
  }
})

verifies('B18', async (harness) => {
  const { search } = await searching(harness, office())
  const refused = await search('file', { detail: 'everything' })
  expect(reasonOf(refused)).toBe('invalid_arguments')
  for (const detail of ['names', 'signatures', 'full']) expect(textOf(refused)).toContain(`"${detail}"`)
})

verifies('B19', async ({ wire }) => {
  const client = await wire(secured(true), { view: 'exposure=search', principal: { id: 'bob' } })
  const answer = async (name: string, args: (tool: string) => Record<string, unknown>, tool: string) =>
    (await client.ask('tools/call', { name, arguments: args(tool) })).text.replaceAll(tool, 'it')
  const calls: readonly (readonly [string, (tool: string) => Record<string, unknown>])[] = [
    ['describe_tools', (name) => ({ names: [name] })],
    ['call_tool', (name) => ({ name })],
    ['manage_tools', (name) => ({ action: 'enable', tools: name })],
    ['manage_tools', (name) => ({ action: 'disable', tools: [name] })],
    ['manage_tools', (name) => ({ action: 'describe', tools: name })],
  ]
  for (const [name, args] of calls)
    expect(await answer(name, args, 'unseal_vault')).toBe(await answer(name, args, 'qwxzvv_kjhgf'))
})

verifies('P25', async (harness) => {
  const stuffed = new ToolRegistry({ name: 'stuffed' })
  for (let number = 0; number < 12; number++)
    stuffed.register(`helper_${number}`, { description: 'weather weather forecast city current' }, () => '')
  const files = new ToolRegistry({ name: 'files' })
  for (const name of ['read_file', 'write_file']) files.register(name, { description: `${name} on disk` }, () => '')
  const box = defineToolbox(info)
    .tool('get_weather', { description: 'Current weather and forecast for a city' }, () => 'Sunny')
    .use(stuffed)
    .use(files)
  const { search, found } = await searching(harness, box)
  expect(textOf(await search('weather in Paris'))).not.toContain('No match')
  const names = await found('weather in Paris')
  expect(names).toContain('get_weather')
  expect(names.filter((name) => name.startsWith('helper_')).length).toBeLessThanOrEqual(2)
})
