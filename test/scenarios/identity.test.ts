import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { McpServer } from '@modelcontextprotocol/server'
import { isClientError, memoryCache, type Tool } from '@unfold-mcp/client'
import { signature } from '@unfold-mcp/core'
import { defineToolbox, type Principal } from '@unfold-mcp/server'
import { type TestTransport, testTransports } from '@unfold-mcp/server/testing'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { home, run } from '../../packages/cli/test/command.ts'
import { sdkEndpoint } from '../fixtures/sdk-server.ts'
import { identifiedServer, serverCommand } from '../identified.ts'
import { verifies } from '../verifies.ts'
import { wireTo } from '../wire.ts'

// Many tests start processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000 })

const agentList: Tool = {
  name: 'agent_list',
  description: 'List all agents',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
}
const readFile: Tool = {
  name: 'read_file',
  description: 'Read file contents',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}
const writeNote: Tool = {
  name: 'write_note',
  description: 'Write a note',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, stars: { type: 'integer', minimum: 1 }, colour: { enum: ['red', 'blue'] } },
    required: ['text'],
  },
}

/** Returns the identity of a server with these tools, as reported to a client. */
async function identityOf(testTransport: TestTransport, tools: readonly Tool[]): Promise<string | undefined> {
  await using server = await identifiedServer(testTransport, tools)
  await using connection = await server.connect()
  return (await connection.identity())?.server_id
}

verifies('C01', async ({ testTransport }) => {
  const id = await identityOf(testTransport, [agentList, readFile, writeNote])
  expect(id).toMatch(/^[0-9a-f-]{36}$/u)
  expect(await identityOf(testTransport, [writeNote, agentList, readFile])).toBe(id)
})

verifies('C02', async ({ testTransport }) => {
  const changed: readonly Tool[] = [
    { ...readFile, name: 'read' },
    { ...readFile, description: 'Read the contents of a file' },
    { ...readFile, inputSchema: { ...readFile.inputSchema, required: [] } },
  ]
  const ids = [await identityOf(testTransport, [agentList, readFile])]
  for (const tool of changed) ids.push(await identityOf(testTransport, [agentList, tool]))
  expect(new Set(ids).size).toBe(4)
  expect(ids).not.toContain(undefined)
})

verifies('C03', async ({ testTransport }) => {
  await using server = await identifiedServer(testTransport, [agentList])
  const reported = async (): Promise<readonly unknown[]> => {
    await using connection = await server.connect()
    const { server_id, tools_count } = (await connection.identity()) ?? {}
    return [server_id, tools_count]
  }
  const first = await reported()
  await server.serve([agentList, readFile])
  const second = await reported()
  await server.serve([agentList])
  const third = await reported()
  expect([first[1], second[1], third[1]]).toEqual([1, 2, 1])
  expect(second[0]).not.toBe(first[0])
  expect(third[0]).toBe(first[0])
})

verifies('C04', async ({ testTransport }) => {
  await using server = await identifiedServer(testTransport, [agentList, readFile, writeNote])
  await using connection = await server.connect()
  expect(await connection.identity()).toMatchObject({ tools_count: 3, protocol_version: '1.0' })
  expect(await connection.tools()).toHaveLength(3)
})

verifies('C05', async ({ testTransport }) => {
  await using server = await identifiedServer(testTransport, [agentList, readFile])
  const cache = memoryCache()
  for (let i = 0; i < 3; i++) {
    await using connection = await server.connect({ cache })
    expect((await connection.tools()).map(({ name }) => name)).toEqual(['agent_list', 'read_file'])
    expect(JSON.stringify((await connection.call('read_file', { path: 'a' })).content)).toContain('a')
    expect(server.count('tools/list')).toBe(1)
  }
  expect(server.count('tools/call')).toBe(3)
})

verifies('C06', async ({ testTransport }) => {
  await using server = await identifiedServer(testTransport, [agentList, readFile])
  const cache = memoryCache()
  const names = async (): Promise<readonly string[]> => {
    await using connection = await server.connect({ cache })
    return (await connection.tools()).map(({ name }) => name)
  }
  await names()
  await server.serve([agentList, writeNote])
  expect(await names()).toEqual(['agent_list', 'write_note'])
  expect(server.count('tools/list')).toBe(2)
  expect(await names()).toEqual(['agent_list', 'write_note'])
  expect(server.count('tools/list')).toBe(2)
})

/** A home folder for the command, and the server command after `--`. */
async function openWorkspace() {
  const at = await home()
  const command = ['--', ...(await serverCommand(at.folder, [agentList, readFile, writeNote]))]
  return { at, command, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() }
}

verifies('C07', async () => {
  await using workspace = await openWorkspace()
  const { at, command } = workspace
  const id = await identityOf({ transport: 'stdio', era: 'session' }, [writeNote, readFile, agentList])
  const { code, stdout } = await at.unfold(['identity', ...command])
  expect({ code, id: stdout.split('\n')[0] }).toEqual({ code: 0, id })
  expect(stdout).toContain('3 tools')
  const asJson = await at.unfold(['identity', '--json', ...command])
  expect(JSON.parse(asJson.stdout)).toMatchObject({ server_id: id, tools_count: 3, protocol_version: '1.0' })
  expect((await at.unfold(['identity', '--expect', id ?? '', ...command])).code).toBe(0)
  const other = await at.unfold(['identity', '--expect', '550e8400-e29b-41d4-a716-446655440000', ...command])
  expect(other.code).toBe(6)
  expect(other.stderr).toContain(id)
})

verifies('C08', async () => {
  await using workspace = await openWorkspace()
  const { at, command } = workspace
  const short = await at.unfold(['list', ...command])
  expect(short.code).toBe(0)
  expect(short.stdout.split('\n')).toEqual([...[agentList, readFile, writeNote].map((tool) => signature(tool)), ''])
  expect(short.stdout).not.toContain('"path"')
  const long = await at.unfold(['list', '--schemas', ...command])
  expect(long.stdout).toContain('"path": {')
  const asJson = await at.unfold(['list', '--schemas', '--json', ...command])
  const { tools } = JSON.parse(asJson.stdout) as { tools: readonly Tool[] }
  expect(tools.map(({ inputSchema }) => inputSchema.required)).toEqual([undefined, ['path'], ['text']])
})

verifies('C09', async () => {
  await using workspace = await openWorkspace()
  const { at, command } = workspace
  const args = '{"path": "/tmp/test.txt"}'
  expect(await at.unfold(['call', 'read_file', '--args', args, '--quiet', ...command])).toEqual({
    code: 0,
    stdout: '{"path":"/tmp/test.txt"}\n',
    stderr: '',
  })
  const flags = await at.unfold(['call', 'write_note', '--text', '012', '--stars', '3', '--quiet', ...command])
  expect(flags.stdout).toBe('{"text":"012","stars":3}\n')
})

verifies('C10', async ({ wire }) => {
  const client = await wire(defineToolbox({ name: 'files', version: '1.0.0' }).tool('agent_list', {}, () => '[]'))
  for (const method of ['tools/call', 'tools/describe']) {
    const { error } = await client.ask(method, {})
    expect(error).toMatchObject({ code: -32_602, data: { reason: 'invalid_params' } })
    expect(error?.message).toContain('"name"')
  }
})

verifies('C11', async ({ testTransport }) => {
  await using server = await identifiedServer(testTransport, [agentList, readFile])
  await using connection = await server.connect()
  // The client rejects the call itself; with the check disabled, the server rejects it.
  for (const options of [{}, { unlisted: true }]) {
    const error = await connection.call('read_flie', {}, options).catch((thrown: unknown) => thrown)
    expect(isClientError(error, 'unknown_tool') && error.message).toContain('"read_flie"')
    expect(isClientError(error, 'unknown_tool') && error.message).toContain('read_file')
  }
  // Requests are counted on a different pipe than the one for replies.
  await vi.waitFor(() => expect(server.count('tools/call')).toBe(1), { timeout: 120_000 })
})

verifies('C12', async ({ testTransport }) => {
  await using server = await identifiedServer(testTransport, [agentList])
  await using connection = await server.connect()
  expect((await connection.call('agent_list')).content).toEqual([{ type: 'text', text: '{}' }])
})

verifies('C13', async () => {
  await using workspace = await openWorkspace()
  const { at, command } = workspace
  const folder = join(at.folder, 'made')
  expect(await at.unfold(['generate', '--output', folder, '--quiet', ...command])).toMatchObject({ code: 0 })
  // Files that an installation would create.
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const bin = (...args: readonly string[]) =>
    run(process.execPath, [join(folder, 'bin.mjs'), ...args], { env: at.env, cwd: at.folder })
  const help = (await bin('write_note', '--help')).stdout
  expect(help).toMatch(/Required:\n +--text/u)
  expect(help).toContain('red')
  expect((await bin('write_note', '--text', '012', '--stars', '3')).stdout).toBe('{"text":"012","stars":3}\n')
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['--stars', '3'], 'text'],
    [['--text', 'a', '--stars', 'many'], 'stars'],
    [['--text', 'a', '--colour', 'green'], 'colour'],
    [['--text', 'a', '--size', '1'], 'size'],
  ]
  for (const [args, named] of wrong) {
    const { code, stdout, stderr } = await bin('write_note', ...args)
    expect([args, code, stdout]).toEqual([args, 2, ''])
    expect(stderr).toContain(named)
  }
})

verifies('C14', async ({ testTransport }) => {
  await using server = await identifiedServer(testTransport, [agentList, readFile])
  const id = await identityOf(testTransport, [agentList, readFile])
  {
    await using connection = await server.connect({ expectIdentity: id ?? '' })
    expect(await connection.tools()).toHaveLength(2)
  }
  await server.serve([agentList, { ...readFile, description: 'Read file contents and send them somewhere' }])
  const error = await server.connect({ expectIdentity: id ?? '' }).catch((thrown: unknown) => thrown)
  expect(isClientError(error, 'identity_mismatch') && error.details.expected).toBe(id)
})

const info = { name: 'plain', version: '1.0.0' }

verifies('C15', async ({ wire, testTransport }) => {
  const input = z.object({ path: z.string() })
  const toolbox = defineToolbox({ ...info, protocol: { identity: false } }).tool(
    'read_file',
    { description: 'Read', inputSchema: input },
    () => 'text',
  )
  const make = (): McpServer => {
    const mcp = new McpServer(info)
    mcp.registerTool('read_file', { description: 'Read', inputSchema: input }, () => ({ content: [] }))
    return mcp
  }
  await using reference = await wireTo(sdkEndpoint(make, testTransport.era), testTransport)
  const [ours, theirs] = [(await (await wire(toolbox)).ask('tools/list')).result, (await reference.ask('tools/list')).result]
  // The cache lifetime is added by the library.
  const { ttlMs: _1, cacheScope: _2, ...rest } = ours
  const { ttlMs: _3, cacheScope: _4, ...expected } = theirs
  expect(JSON.stringify(rest)).toBe(JSON.stringify(expected))
})

verifies('C16', async ({ wire }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
    .tool('read_file', { group: 'files' }, () => 'text')
    .tool('agent_list', {}, () => '[]')
  const client = await wire(toolbox)
  const { capabilities } = client.greeting.result as {
    capabilities: { extensions: Record<string, { identity: string; tools_count: number }> }
  }
  const announced = capabilities.extensions['io.github.unfold-mcp/discovery']
  const { result: list } = await client.ask('tools/list')
  const { result: reported } = await client.ask('server/identity')
  expect(reported).toMatchObject({ server_id: announced?.identity, tools_count: announced?.tools_count })
  expect((list._meta as Record<string, unknown>)['io.github.unfold-mcp/identity']).toBe(reported.server_id)
  expect((list.tools as readonly unknown[]).length).toBe(reported.tools_count)
})

verifies('C17', async ({ wire }) => {
  const secured = () =>
    defineToolbox({
      ...info,
      groups: { files: { description: 'Files' }, vault: { description: 'Vault' } },
      permit: (principal, tool) => tool.name !== 'unseal' || principal?.id === 'ann',
    })
      .tool('read_file', { group: 'files', description: 'Reads' }, () => 'text')
      .tool('unseal', { group: 'vault', description: 'Opens' }, () => 'open')
  const served = secured()
  const answers = async (principal: Principal): Promise<string> => {
    const client = await wire(served, { principal })
    const asked = [
      client.greeting,
      await client.ask('server/identity', { stateful: true }),
      await client.ask('tools/list'),
      await client.ask('io.github.unfold-mcp/changes', { since: 'x' }),
    ]
    return asked.map(({ text }) => text).join('\n')
  }
  const [hers, his] = [await answers({ id: 'ann' }), await answers({ id: 'bob' })]
  expect(hers).toMatch(/vault/u)
  expect(his).not.toMatch(/vault|unseal|Opens/u)
  const idOf = (text: string): string | undefined => /"server_id":"([^"]+)"/u.exec(text)?.[1]
  expect(idOf(his)).not.toBe(idOf(hers))
})

verifies('C18', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-same-'))
  try {
    const ids: (string | undefined)[] = []
    for (const testTransport of testTransports) ids.push(await identityOf(testTransport, [agentList, readFile]))
    // The same tools with a different key order and spacing.
    const file = join(folder, 'tools.json')
    const [node = '', script = ''] = await serverCommand(folder, [])
    await writeFile(file, `\n[ ${JSON.stringify(readFile, undefined, 4)} ,\n\t${JSON.stringify(agentList)} ]\n`)
    await using at = await home()
    ids.push((await at.unfold(['identity', '--', node, script, file])).stdout.split('\n')[0])
    expect(new Set(ids).size).toBe(1)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})
