import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer, ProtocolError } from '@modelcontextprotocol/server'
import { discovery, identityOf, metaKeys, type Tool, toolIdentity } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { adopt } from '../adopt.ts'
import { adoptV1 } from '../adopt-v1.ts'
import { ToolRegistry } from '../registry.ts'
import { type ConnectOptions, type TestClient, testServer, testTransports } from '../testing/index.ts'
import type { Principal } from '../tool/principal.ts'
import { defineToolbox } from '../toolbox.ts'
import type { ToolboxOptions } from '../toolbox-options.ts'
import { sha256 } from '../view/identities.ts'

type Answer = { readonly [key: string]: unknown }

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const

const ask = async ({ client }: TestClient, method: string, params: Answer = {}): Promise<Answer> =>
  (await client.request({ method, params }, anything)) as Answer

async function refusal(
  client: TestClient,
  method: string,
  params: Answer,
): Promise<{ code: number; data: Answer; message: string }> {
  const error = await ask(client, method, params).then(
    (answer) => new Error(`It was answered: ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ProtocolError)) throw error
  return { code: error.code, data: error.data as Answer, message: error.message }
}

const identityIn = ({ _meta }: Answer): unknown => (_meta as Answer | undefined)?.[metaKeys.identity]
const settingsOf = ({ client }: TestClient): Answer | undefined =>
  client.getServerCapabilities()?.extensions?.[discovery.extension]
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u

const info = { name: 'hub', version: '1.2.3' }
const groups = { files: { description: 'Files' }, vault: { description: 'Secrets' } } as const
const [ann, bob]: readonly Principal[] = [{ id: 'ann' }, { id: 'bob' }]

const hub = (options: Partial<ToolboxOptions<typeof groups>> = {}) =>
  defineToolbox({ ...info, groups, hiddenCalls: 'hint', ...options })
    .tool('ping', { description: 'Answers', version: '2.0.0', aliases: ['pong'] }, () => 'pong')
    .tool(
      'read_file',
      {
        group: 'files',
        description: 'Reads',
        tags: ['disk'],
        readOnly: true,
        inputSchema: z.object({ path: z.string(), limit: z.number().optional() }),
      },
      () => 'text',
    )
    .tool('write_file', { group: 'files', description: 'Writes' }, () => 'done')
    .tool('unseal', { group: 'vault', description: 'Opens the vault', destructive: true }, () => 'open')

const secured = () => hub({ permit: (principal, tool) => tool.name !== 'unseal' || principal?.id === 'ann' })

describe.each(testTransports)('over $transport, $era', (testTransport) => {
  /** Serves to one client while `body` runs. */
  async function connected(
    served: object,
    body: (client: TestClient, connect: (options?: ConnectOptions) => Promise<TestClient>) => Promise<void>,
    options?: ConnectOptions,
  ): Promise<void> {
    await using server = await testServer(served, testTransport)
    await body(await server.connect(options), (other) => server.connect(other))
  }

  test('server/identity returns the identity and size of the list of the caller', () =>
    connected(hub(), async (client) => {
      const { tools } = await client.client.listTools()
      const answer = await ask(client, discovery.methods.identity)
      expect(answer).toMatchObject({
        server_id: identityOf(tools as readonly Tool[], sha256),
        tools_count: tools.length,
        protocol_version: '1.0',
        basis: 'definitions',
        mcp_version: testTransport.era === 'session' ? '2025-11-25' : '2026-07-28',
        server: info,
        extensions: [discovery.extension],
        catalog: { tools_count: 4 },
        groups: { files: { tools_count: 2 }, vault: { tools_count: 1 } },
      })
      expect(answer.server_id).toMatch(uuid)
      expect(answer).not.toHaveProperty('state_id')
    }))

  test('server/identity returns all tools with their costs and groups on request', () => {
    const nested = defineToolbox({
      ...info,
      hiddenCalls: 'hint',
      groups: { ...groups, keys: { description: 'Keys', parent: 'vault' } },
    })
      .tool('ping', { description: 'Answers' }, () => 'pong')
      .tool('turn_key', { group: 'keys', description: 'Turns a key' }, () => 'click')
    return connected(nested, async (client) => {
      const { catalog, groups: outline } = await ask(client, discovery.methods.identity, { outline: true })
      const [ping, key] = [expect.any(Number), expect.any(Number)]
      expect(catalog).toMatchObject({
        tools: [
          { name: 'ping', tokens: ping },
          { name: 'turn_key', tokens: key, group: 'keys' },
        ],
      })
      const described = await ask(client, discovery.methods.describe, { name: 'turn_key' })
      expect(catalog).toHaveProperty(['tools', 1, 'tokens'], described.tokens)
      expect(outline).toMatchObject({
        vault: { description: 'Secrets' },
        keys: { description: 'Keys', parent: 'vault', tools_count: 1 },
      })
      expect(outline).not.toHaveProperty(['vault', 'parent'])
      const plain = await ask(client, discovery.methods.identity)
      expect(plain.catalog).not.toHaveProperty('tools')
      expect(plain.groups).not.toHaveProperty(['keys', 'description'])
    })
  })

  test('the list, the extension settings and the response have the same identity', () =>
    connected(hub(), async (client) => {
      const settings = settingsOf(client)
      const { server_id, tools_count } = await ask(client, discovery.methods.identity)
      expect(settings).toEqual({ version: '1.0', identity: server_id, tools_count })
      expect(identityIn(await ask(client, 'tools/list'))).toBe(server_id)
    }))

  test('every page has the identity of the complete list', () =>
    connected(hub({ protocol: { pageSize: 1 } }), async (client) => {
      const { server_id, tools_count } = await ask(client, discovery.methods.identity)
      const pages: Answer[] = []
      for (let cursor: unknown; pages.length < 20; ) {
        const page = await ask(client, 'tools/list', cursor === undefined ? {} : { cursor })
        pages.push(page)
        cursor = page.nextCursor
        if (cursor === undefined) break
      }
      expect(pages).toHaveLength(tools_count as number)
      expect(new Set(pages.map(identityIn))).toEqual(new Set([server_id]))
    }))

  test('a client without permission gets responses as if the tool did not exist', async () => {
    const without = defineToolbox({ ...info, groups: { files: groups.files }, hiddenCalls: 'hint', permit: () => true })
      .tool('ping', { description: 'Answers', version: '2.0.0', aliases: ['pong'] }, () => 'pong')
      .tool(
        'read_file',
        {
          group: 'files',
          description: 'Reads',
          tags: ['disk'],
          readOnly: true,
          inputSchema: z.object({ path: z.string(), limit: z.number().optional() }),
        },
        () => 'text',
      )
      .tool('write_file', { group: 'files', description: 'Writes' }, () => 'done')
    const answers = async (client: TestClient): Promise<unknown> => [
      settingsOf(client),
      await ask(client, 'tools/list'),
      await ask(client, discovery.methods.identity),
      await ask(client, discovery.methods.identity, { basis: 'names', stateful: true, outline: true }),
      await ask(client, discovery.methods.changes, { since: 'nothing' }),
      await refusal(client, discovery.methods.describe, { name: 'unseal' }),
    ]
    let lacking: unknown
    await connected(
      without,
      async (client) => {
        lacking = await answers(client)
      },
      { principal: bob as Principal },
    )
    await connected(
      secured(),
      async (client, connect) => {
        expect(await answers(client)).toEqual(lacking)
        const other = await connect({ principal: ann as Principal })
        const [hers, his] = [await ask(other, discovery.methods.identity), await ask(client, discovery.methods.identity)]
        expect(hers.server_id).not.toBe(his.server_id)
        expect(hers.catalog).toMatchObject({ tools_count: 4 })
        expect(hers.groups).toHaveProperty('vault')
        expect((await ask(other, discovery.methods.describe, { name: 'unseal' })).group).toBe('vault')
      },
      { principal: bob as Principal },
    )
  })

  test('adding a tool changes the identity, and removing it restores the first', async () => {
    const registry = new ToolRegistry()
    await connected(hub().use(registry), async (client) => {
      const first = (await ask(client, discovery.methods.identity)).server_id
      const remove = registry.register('extra', { description: 'More' }, () => 'x')
      const second = await ask(client, 'tools/list')
      expect(identityIn(second)).not.toBe(first)
      expect(identityIn(second)).toBe(identityOf(second.tools as readonly Tool[], sha256))
      remove()
      expect((await ask(client, discovery.methods.identity)).server_id).toBe(first)
    })
  })

  test('data counts do not change the identity, available modes do', async () => {
    const counts = { logs: 1, traces: 0 }
    const toolbox = defineToolbox({ ...info, facts: () => ({ ...counts }) }).composite(
      'observe',
      {
        description: 'Shows',
        by: 'what',
        modes: {
          logs: { description: 'Logs', count: ({ facts }) => facts.logs },
          traces: { description: 'Traces', available: ({ facts }) => facts.traces > 0, count: ({ facts }) => facts.traces },
        },
      },
      { logs: () => 'logs', traces: () => 'traces' },
    )
    await connected(toolbox, async (client) => {
      const before = await ask(client, 'tools/list')
      counts.logs = 7
      const after = await ask(client, 'tools/list')
      expect(JSON.stringify(after.tools)).not.toBe(JSON.stringify(before.tools))
      expect(identityIn(after)).toBe(identityIn(before))
      const { state_id } = await ask(client, discovery.methods.identity, { stateful: true })
      counts.logs = 8
      const stateful = await ask(client, discovery.methods.identity, { stateful: true })
      expect(stateful.server_id).toBe(identityIn(before))
      expect(stateful.state_id).not.toBe(state_id)
      counts.traces = 1
      expect((await ask(client, discovery.methods.identity)).server_id).not.toBe(identityIn(before))
    })
  })

  test('with basis names, only names and descriptions count', async () => {
    const registry = new ToolRegistry()
    const put = (limit: number) =>
      registry.register('extra', { description: 'More', inputSchema: z.object({ n: z.number().max(limit) }) }, () => 'x')
    await connected(hub().use(registry), async (client) => {
      const remove = put(1)
      const [names, definitions] = [
        await ask(client, discovery.methods.identity, { basis: 'names' }),
        await ask(client, discovery.methods.identity),
      ]
      const { tools } = await client.client.listTools(undefined, { cacheMode: 'bypass' })
      expect(names).toMatchObject({ basis: 'names', server_id: identityOf(tools as readonly Tool[], sha256, 'names') })
      expect(definitions.server_id).not.toBe(names.server_id)
      remove()
      put(2)
      expect((await ask(client, discovery.methods.identity, { basis: 'names' })).server_id).toBe(names.server_id)
      expect((await ask(client, discovery.methods.identity)).server_id).not.toBe(definitions.server_id)
    })
  })

  test('the basis can be set for the whole toolbox', () =>
    connected(hub({ protocol: { identity: 'names' } }), async (client) => {
      const { tools } = await client.client.listTools()
      const expected = identityOf(tools as readonly Tool[], sha256, 'names')
      expect(settingsOf(client)?.identity).toBe(expected)
      expect(identityIn(await ask(client, 'tools/list'))).toBe(expected)
      expect(await ask(client, discovery.methods.identity)).toMatchObject({ server_id: expected, basis: 'names' })
    }))

  test('identity: false disables all of it', () =>
    connected(hub({ protocol: { identity: false } }), async (client) => {
      expect(settingsOf(client)).toBeUndefined()
      expect(identityIn(await ask(client, 'tools/list'))).toBeUndefined()
      for (const method of [discovery.methods.identity, discovery.methods.describe, discovery.methods.changes])
        await expect(ask(client, method, { name: 'ping', since: 'x' })).rejects.toThrow('Method not found')
    }))

  test('tools/describe documents a tool, listed or not', () =>
    connected(hub(), async (client) => {
      const { tools } = await client.client.listTools()
      const described = await ask(client, discovery.methods.describe, { name: 'read_file' })
      expect(described).toMatchObject({
        tool: { name: 'read_file', description: 'Reads' },
        identity: toolIdentity(described.tool as Tool, sha256),
        signature: 'read_file(path: string, limit?: number) — Reads',
        facet: 'read-only',
        group: 'files',
        tags: ['disk'],
        listed: tools.some(({ name }) => name === 'read_file'),
      })
      const [least, all] = described.examples as readonly Answer[]
      expect(Object.keys(least ?? {})).toEqual(['path'])
      expect(Object.keys(all ?? {})).toEqual(['path', 'limit'])
      expect(described.tokens).toBeGreaterThan(20)
      expect(await ask(client, discovery.methods.describe, { name: 'ping' })).toMatchObject({
        version: '2.0.0',
        aliases: ['pong'],
        examples: [{}],
        listed: true,
      })
    }))

  test('tools/describe resolves an alias to the current name', () =>
    connected(hub(), async (client) => {
      expect(await ask(client, discovery.methods.describe, { name: 'pong' })).toEqual(
        await ask(client, discovery.methods.describe, { name: 'ping' }),
      )
    }))

  test('tools/describe of an unknown tool suggests the nearest names', () =>
    connected(
      secured(),
      async (client) => {
        expect(await refusal(client, discovery.methods.describe, { name: 'read_flie' })).toMatchObject({
          code: -32_602,
          data: { reason: 'unknown_tool', nearest: ['read_file'] },
        })
        const hidden = await refusal(client, discovery.methods.describe, { name: 'unseal' })
        const invented = await refusal(client, discovery.methods.describe, { name: 'unsealy' })
        expect(JSON.stringify(invented).replaceAll('unsealy', 'unseal')).toBe(JSON.stringify(hidden))
      },
      { principal: bob as Principal },
    ))

  test('describing a tool does not change the identity', async () => {
    const registry = new ToolRegistry()
    await connected(hub().use(registry), async (client) => {
      const { server_id } = await ask(client, discovery.methods.identity)
      for (const name of ['ping', 'read_file', 'unseal']) await ask(client, discovery.methods.describe, { name })
      expect((await ask(client, discovery.methods.identity)).server_id).toBe(server_id)
      // After a change everything is recomputed.
      registry.register('extra', {}, () => 'x')()
      expect((await ask(client, discovery.methods.identity)).server_id).toBe(server_id)
    })
  })

  test('tools/describe of a composite tool returns its current modes', async () => {
    let traces = 0
    const toolbox = defineToolbox({ ...info, facts: () => ({ traces }) }).composite(
      'observe',
      {
        description: 'Shows',
        by: 'what',
        modes: { logs: { description: 'Logs' }, traces: { description: 'Traces', available: ({ facts }) => facts.traces > 0 } },
      },
      { logs: () => 'logs', traces: () => 'traces' },
    )
    await connected(toolbox, async (client) => {
      const modes = async (): Promise<string> =>
        JSON.stringify((await ask(client, discovery.methods.describe, { name: 'observe' })).tool)
      expect(await modes()).not.toContain('traces')
      traces = 1
      expect(await modes()).toContain('traces')
    })
  })

  test('changes since a known list contain added, removed and changed tools', async () => {
    const registry = new ToolRegistry()
    const removeOne = registry.register('one', { description: 'One' }, () => '1')
    const removeTwo = registry.register('two', { description: 'Two' }, () => '2')
    await connected(defineToolbox(info).use(registry), async (client) => {
      const since = identityIn(await ask(client, 'tools/list'))
      expect(await ask(client, discovery.methods.changes, { since: since as string })).toMatchObject({
        identity: since,
        known: true,
        added: [],
        changed: [],
        removed: [],
      })
      removeOne()
      removeTwo()
      registry.register('two', { description: 'Two, and better' }, () => '2')
      registry.register('three', { description: 'Three' }, () => '3')
      const changes = await ask(client, discovery.methods.changes, { since: since as string })
      expect(changes).toMatchObject({
        known: true,
        identity: (await ask(client, discovery.methods.identity)).server_id,
        added: [{ name: 'three' }],
        changed: [{ name: 'two', description: 'Two, and better' }],
        removed: ['one'],
      })
      expect(identityOf([...(changes.added as Tool[]), ...(changes.changed as Tool[])], sha256)).toBe(changes.identity)
    })
  })

  test('changes since an unknown list request a new list', () =>
    connected(hub(), async (client) => {
      const { server_id, tools_count } = await ask(client, discovery.methods.identity)
      const answer = await ask(client, discovery.methods.changes, { since: '00000000-0000-8000-8000-000000000000' })
      expect(answer).toMatchObject({ identity: server_id, known: false, tools_count })
      expect(answer).not.toHaveProperty('added')
    }))

  test('lists of another principal are unknown', () =>
    connected(
      secured(),
      async (client, connect) => {
        const other = await connect({ principal: ann as Principal, view: 'exposure=everything' })
        const hers = identityIn(await ask(other, 'tools/list')) as string
        const answer = await ask(client, discovery.methods.changes, { since: hers })
        expect(answer.known).toBe(false)
        expect(JSON.stringify(answer)).not.toContain('unseal')
      },
      { principal: bob as Principal },
    ))

  test('invalid params are rejected with the problem and the fix', () =>
    connected(hub(), async (client) => {
      const cases: readonly (readonly [string, Answer, string])[] = [
        [discovery.methods.describe, {}, '"name"'],
        [discovery.methods.describe, { name: 7 }, '"name"'],
        [discovery.methods.describe, { name: null }, '"name"'],
        [discovery.methods.describe, { name: ['ping'] }, '"name"'],
        [discovery.methods.changes, {}, '"since"'],
        [discovery.methods.changes, { since: {} }, '"since"'],
        [discovery.methods.identity, { basis: 'everything' }, '"basis"'],
        [discovery.methods.identity, { basis: 1 }, '"basis"'],
      ]
      for (const [method, params, named] of cases) {
        const { code, data, message } = await refusal(client, method, params)
        expect([code, data.reason]).toEqual([-32_602, 'invalid_params'])
        expect(message).toContain(`Invalid ${method} request`)
        expect(message).toContain(named)
      }
      const long = 'x'.repeat(100_000)
      expect((await refusal(client, discovery.methods.describe, { name: long })).message.length).toBeLessThan(1_000)
      expect((await ask(client, discovery.methods.changes, { since: long })).known).toBe(false)
      expect(await ask(client, discovery.methods.identity, { stateful: 'yes' })).not.toHaveProperty('state_id')
    }))

  test.each([
    ['adopt', () => adopted()],
    ['adoptV1', () => adoptedV1()],
  ])('a server adopted with %s responds under its own name', async (_, make) => {
    await connected(make(), async (client) => {
      const { tools } = await client.client.listTools()
      const expected = identityOf(tools as readonly Tool[], sha256)
      expect(await ask(client, discovery.methods.identity)).toMatchObject({
        server_id: expected,
        tools_count: tools.length,
        server: { name: 'old', version: '4.5.6' },
        groups: { files: { tools_count: 1 } },
      })
      expect(settingsOf(client)).toEqual({ version: '1.0', identity: expected, tools_count: tools.length })
      expect(identityIn(await ask(client, 'tools/list'))).toBe(expected)
      expect(await ask(client, discovery.methods.describe, { name: 'read' })).toMatchObject({
        group: 'files',
        tool: { description: 'Reads' },
      })
      expect((await ask(client, discovery.methods.changes, { since: expected })).known).toBe(true)
    })
  })
})

const text = (content: string) => ({ content: [{ type: 'text' as const, text: content }] })

function adopted(): object {
  const make = () => {
    const mcp = new McpServer({ name: 'old', version: '4.5.6' })
    mcp.registerTool('read', { description: 'Reads', inputSchema: z.object({ path: z.string() }) }, ({ path }) => text(path))
    mcp.registerTool('ping', { description: 'Answers' }, () => text('pong'))
    return mcp
  }
  return adopt(make, { groups: { files: { description: 'Files' } }, hiddenCalls: 'hint', assign: { read: 'files' } })
}

function adoptedV1(): object {
  const make = () => {
    const mcp = new McpServerV1({ name: 'old', version: '4.5.6' })
    mcp.registerTool('read', { description: 'Reads', inputSchema: { path: z.string() } }, ({ path }) => text(path))
    mcp.registerTool('ping', { description: 'Answers' }, () => text('pong'))
    return mcp
  }
  return adoptV1(make, { groups: { files: { description: 'Files' } }, hiddenCalls: 'hint', assign: { read: 'files' } })
}

describe.each(testTransports.filter(({ era }) => era === 'session'))('in a session over $transport', (testTransport) => {
  test('activating a group changes the identity, and deactivating it restores the first', async () => {
    await using server = await testServer(hub(), testTransport)
    const [client, other] = [await server.connect(), await server.connect()]
    const first = await ask(client, discovery.methods.identity, { stateful: true })
    await client.call('activate_files')
    const opened = await ask(client, discovery.methods.identity, { stateful: true })
    expect(opened.server_id).not.toBe(first.server_id)
    expect(opened.state_id).not.toBe(first.state_id)
    expect(opened).toMatchObject({ catalog: first.catalog as object, groups: first.groups as object })
    expect((await ask(other, discovery.methods.identity)).server_id).toBe(first.server_id)
    await client.call('deactivate', { group: 'files' })
    expect(await ask(client, discovery.methods.identity, { stateful: true })).toEqual(first)
  })

  test('changes of a session contain the tools of an activated group', async () => {
    await using server = await testServer(hub(), testTransport)
    const client = await server.connect()
    const since = identityIn(await ask(client, 'tools/list')) as string
    await client.call('activate_files')
    expect(await ask(client, discovery.methods.changes, { since })).toMatchObject({
      added: [{ name: 'read_file' }, { name: 'write_file' }],
      changed: [],
      removed: [],
    })
  })

  test('an active group without tools counts only in the stateful form', async () => {
    const toolbox = defineToolbox({ ...info, groups: { empty: { description: 'Nothing yet' } } }).tool('ping', {}, () => 'pong')
    await using server = await testServer(toolbox, testTransport)
    const client = await server.connect()
    const first = await ask(client, discovery.methods.identity, { stateful: true })
    await client.call('activate_empty')
    const opened = await ask(client, discovery.methods.identity, { stateful: true })
    expect(opened.server_id).toBe(first.server_id)
    expect(opened.state_id).not.toBe(first.state_id)
  })

  test('lists of another session are unknown, even of the same principal', async () => {
    await using server = await testServer(hub(), testTransport)
    const [client, other] = [await server.connect(), await server.connect()]
    await client.call('activate_vault')
    const since = identityIn(await ask(client, 'tools/list')) as string
    expect((await ask(other, discovery.methods.changes, { since })).known).toBe(false)
  })
})

test('facts that are not JSON disable only the stateful form', async () => {
  const ring: { self?: unknown } = {}
  ring.self = ring
  const toolbox = defineToolbox({ ...info, facts: () => ({ ring }) }).tool('ping', {}, () => 'pong')
  await using server = await testServer(toolbox, { transport: 'memory', era: 'session' })
  const answer = await ask(await server.connect(), discovery.methods.identity, { stateful: true })
  expect(answer).toMatchObject({ tools_count: 1 })
  expect(answer).not.toHaveProperty('state_id')
})
