import { describe, expect, test } from 'vitest'
import type { Principal } from '../principal.ts'
import type { Served } from '../runtime/declaration.ts'
import { testServer, ways } from '../testing/index.ts'
import { defineToolbox } from '../toolbox.ts'
import { createHandler } from './handler.ts'

const [ann, bob]: readonly [Principal, Principal] = [{ id: 'ann' }, { id: 'bob' }]

const hub = () =>
  defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: { files: { about: 'Files' } },
    exposure: (principal) => (principal?.id === 'ann' ? 'everything' : 'search'),
  }).tool('read_file', { group: 'files' }, () => 'text')

describe.each(ways)('over $transport in the era "$era"', (way) => {
  test('each principal is shown the tools in their own way, unless the address asks for another', async () => {
    await using server = await testServer(hub(), way)
    const finding = ['search_tools', 'describe_tools', 'call_tool']
    const lists = async (principal: Principal | undefined, view?: string): Promise<readonly string[]> => {
      const client = await server.connect({ ...(principal !== undefined && { principal }), ...(view !== undefined && { view }) })
      return client.toolNames()
    }
    expect(await lists(ann)).toEqual(['read_file'])
    expect(await lists(bob)).toEqual(finding)
    expect(await lists(undefined)).toEqual(finding)
    expect(await lists(bob, 'exposure=everything')).toEqual(['read_file'])
    expect(await lists(ann, 'exposure=search')).toEqual(finding)
  })

  test('what is registered beside tools may depend on who is served, and in which era', async () => {
    const served: Served[] = []
    const toolbox = hub().extend((mcp, to) => {
      served.push(to)
      const { id = 'nobody' } = to.principal ?? {}
      mcp.registerPrompt(`greet_${id}`, { description: `Greets ${id}` }, () => ({ messages: [] }))
    })
    await using server = await testServer(toolbox, way)
    for (const principal of [ann, bob]) {
      const { client } = await server.connect({ principal, listens: false })
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name)).toEqual([`greet_${principal.id}`])
    }
    expect(new Set(served.map(({ era }) => era))).toEqual(new Set([way.era]))
  })
})

test('a list that depends on who asks is not for others to keep', async () => {
  const cacheScopeOf = async (toolbox: object): Promise<unknown> => {
    await using handler = createHandler(toolbox)
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'client', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const answer = await handler.fetch(
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
    const { result } = (await answer.json()) as { result: { cacheScope: unknown } }
    return result.cacheScope
  }
  expect(await cacheScopeOf(defineToolbox({ name: 'a', version: '1', exposure: 'everything' }).tool('t', {}, () => ''))).toBe(
    'public',
  )
  expect(await cacheScopeOf(hub())).toBe('private')
})
