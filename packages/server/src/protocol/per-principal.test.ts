import { describe, expect, test } from 'vitest'
import type { Served } from '../catalog/declaration.ts'
import type { Embedder } from '../search/index.ts'
import { testServer, testTransports } from '../testing/index.ts'
import type { Principal } from '../tool/principal.ts'
import { defineToolbox } from '../toolbox.ts'
import { createHandler } from '../transports/handler.ts'

const [ann, bob]: readonly [Principal, Principal] = [{ id: 'ann' }, { id: 'bob' }]

const hub = () =>
  defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: { files: { description: 'Files' } },
    exposure: (principal) => (principal?.id === 'ann' ? 'everything' : 'search'),
  }).tool('read_file', { group: 'files' }, () => 'text')

describe.each(testTransports)('over $transport in the era "$era"', (testTransport) => {
  test('the exposure depends on the principal, unless the URL selects another', async () => {
    await using server = await testServer(hub(), testTransport)
    const searchTools = ['search_tools', 'describe_tools', 'call_tool']
    const lists = async (principal: Principal | undefined, view?: string): Promise<readonly string[]> => {
      const client = await server.connect({ ...(principal !== undefined && { principal }), ...(view !== undefined && { view }) })
      return client.toolNames()
    }
    expect(await lists(ann)).toEqual(['read_file'])
    expect(await lists(bob)).toEqual(searchTools)
    expect(await lists(undefined)).toEqual(searchTools)
    expect(await lists(bob, 'exposure=everything')).toEqual(['read_file'])
    expect(await lists(ann, 'exposure=search')).toEqual(searchTools)
  })

  test('prompts may depend on the principal and the era', async () => {
    const served: Served[] = []
    const toolbox = hub().extend((mcp, to) => {
      served.push(to)
      const { id = 'anonymous' } = to.principal ?? {}
      mcp.registerPrompt(`greet_${id}`, { description: `Greets ${id}` }, () => ({ messages: [] }))
    })
    await using server = await testServer(toolbox, testTransport)
    for (const principal of [ann, bob]) {
      const { client } = await server.connect({ principal, listens: false })
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name)).toEqual([`greet_${principal.id}`])
    }
    expect(new Set(served.map(({ era }) => era))).toEqual(new Set([testTransport.era]))
  })
})

test('a list that depends on the principal is not publicly cacheable', async () => {
  const cacheScopeOf = async (toolbox: object): Promise<unknown> => {
    await using handler = createHandler(toolbox)
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'client', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const response = await handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/list',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
      }),
    )
    const { result } = (await response.json()) as { result: { cacheScope: unknown } }
    return result.cacheScope
  }
  expect(await cacheScopeOf(defineToolbox({ name: 'a', version: '1', exposure: 'everything' }).tool('t', {}, () => ''))).toBe(
    'public',
  )
  expect(await cacheScopeOf(hub())).toBe('private')
})

describe.each(testTransports)('settings chosen by a function, over $transport in the era "$era"', (testTransport) => {
  test('one principal gets semantic search, another keyword search', async () => {
    const embedded: string[] = []
    const embedder: Embedder = {
      embed: async (texts) => {
        embedded.push(...texts)
        return texts.map((text) => Float32Array.from(/car|wagentje/u.test(text) ? [1, 0.1] : [0, 0.1]))
      },
    }
    const [semantic, keyword] = [{ embedder, deadlineMs: 10_000 }, {}]
    const town = defineToolbox({
      name: 'town',
      version: '1.0.0',
      exposure: 'search',
      search: (principal) => (principal?.id === 'ann' ? semantic : keyword),
    })
    for (const description of [
      'Hire a car',
      'Play a tune',
      'Write a letter',
      'Bake a cake',
      'Paint a wall',
      'Cut a tree',
      'Dig a hole',
    ])
      town.tool(description.toLowerCase().replaceAll(' ', '_'), { description }, () => description)
    await using server = await testServer(town, testTransport)
    const finds = async (principal: Principal): Promise<boolean> => {
      const client = await server.connect({ principal, view: 'exposure=search' })
      const { content } = await client.call('search_tools', { query: 'wagentje' })
      return JSON.stringify(content).includes('hire_a_car')
    }
    expect(await finds(bob)).toBe(false)
    expect(embedded).toEqual([])
    await expect.poll(() => finds(ann), { timeout: 120_000 }).toBe(true)
    expect(await finds(bob)).toBe(false)
  })

  test('activations persist for one principal and not for another', async () => {
    const box = defineToolbox({
      name: 'hub',
      version: '1.0.0',
      groups: { files: { description: 'Files' } },
      remember: (principal) => (principal?.id === 'ann' ? 'principal' : 'session'),
    }).tool('read_file', { group: 'files' }, () => 'text')
    await using server = await testServer(box, testTransport)
    for (const principal of [ann, bob]) {
      await using first = await server.connect({ principal, listens: false })
      const isOpen = async (): Promise<boolean> => (await first.toolNames()).includes('read_file')
      const before = await isOpen()
      await first.call('activate_files').catch(() => undefined)
      await using second = await server.connect({ principal, listens: false })
      const after = (await second.toolNames()).includes('read_file')
      // A 2026-07-28 client without state sees everything.
      const isShown = testTransport.era === 'stateless' && principal === bob
      expect([before, after]).toEqual([isShown, isShown || principal === ann])
    }
    await box.deactivate('files', 'principal:ann')
    await using again = await server.connect({ principal: ann, listens: false })
    expect(await again.toolNames()).not.toContain('read_file')
    await expect(box.activate('files', 'principal:nobody')).rejects.toThrow(/No client is connected/u)
  })
})
