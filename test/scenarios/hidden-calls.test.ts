import { defineToolbox, type HiddenCalls } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { automationHub, hintingHub } from '../fixtures/automation-hub.ts'
import { reasonOf, refusalOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'
import type { Wire } from '../wire.ts'

const info = { name: 'hub', version: '1.0.0' }
const policies: readonly HiddenCalls[] = ['opaque', 'hint', 'reveal']

/** A server whose `read_file` is hidden from clients that connect with `?groups=network`. */
const hub = (hiddenCalls: HiddenCalls, tools: readonly string[] = ['read_file', 'write_file']) => {
  const toolbox = defineToolbox({
    ...info,
    groups: { files: { description: 'Files' }, network: { description: 'Network' } },
    hiddenCalls,
  })
  for (const name of tools) toolbox.tool(name, { group: 'files', description: name }, () => `${name} ran`)
  return toolbox.tool('fetch_url', { group: 'network' }, () => 'fetched')
}

verifies('A02', async ({ wire }) => {
  const params = { name: 'read_file', arguments: { path: 'a.txt' } }
  const hiding = await wire(hub('opaque'), { view: 'groups=network' })
  const lacking = await wire(hub('opaque', ['write_file']), { view: 'groups=network' })
  const hidden = await hiding.ask('tools/call', params)
  expect(hidden.error?.data).toMatchObject({ reason: 'unknown_tool', name: 'read_file' })
  expect(hidden.text).toBe((await lacking.ask('tools/call', params)).text)
  const unknown = await hiding.ask('tools/call', { ...params, name: 'zead_file' })
  expect(hidden.text).toBe(unknown.text.replaceAll('zead_file', 'read_file'))
})

verifies('P06', async ({ wire, testTransport }) => {
  const tool = (name: string, args: object) => ['tools/call', { name, arguments: args }] as const
  const questions = [
    ['tools/call', { name: 'read_file' }],
    ['tools/describe', { name: 'read_file' }],
    tool('describe_tools', { names: ['read_file', 'fetch_url'] }),
    tool('search_tools', { query: 'read_file' }),
    tool('search_tools', { query: '' }),
    tool('call_tool', { name: 'read_file' }),
    tool('manage_tools', { action: 'list' }),
    tool('manage_tools', { action: 'enable', tools: 'read_file' }),
  ] as const
  const answers = async (client: Wire): Promise<readonly string[]> => {
    const texts = []
    for (const [method, params] of questions) texts.push((await client.ask(method, params)).text)
    const { catalog, groups } = (await client.ask('server/identity', { outline: true })).result
    return [...texts, JSON.stringify([catalog, groups])].map((text) => text.replaceAll(/"id":\d+/gu, ''))
  }
  const view = { view: 'groups=network' }
  const hiding = await wire(hub('opaque'), view)
  const denied = await answers(hiding)
  expect(denied).toEqual(await answers(await wire(hub('opaque', ['write_file']), view)))
  expect(denied.filter((text) => text.includes('read_file ran') || text.includes('write_file'))).toEqual([])
  // If the policy reveals the tool, all surface tools include it.
  const hinting = (await answers(await wire(hub('hint'), view))).filter((text) => !text.includes('read_file'))
  expect(hinting).toEqual([])
  if (testTransport.era === 'stateless') return
  await hiding.ask('tools/call', { name: 'activate_files' })
  expect((await answers(hiding)).filter((text) => !text.includes('read_file'))).toEqual([])
})

verifies('P07', async ({ connect, testTransport }) => {
  const client = await connect(hub('opaque'), { view: 'exposure=search' })
  expect(textOf(await client.call('search_tools', { query: 'read_file' }))).toContain('- read_file()')
  const answer = await client.call('read_file')
  expect(reasonOf(answer)).toBe('requires_activation')
  expect(textOf(answer)).toBe("Tool 'read_file' is not listed. Call it with call_tool(name, arguments).")
  if (testTransport.era === 'stateless') return
  const lazy = await connect(hub('opaque'), { view: 'exposure=lazy' })
  expect(textOf(await lazy.call('read_file'))).toContain('or enable it with manage_tools first')
  expect((await refusalOf(lazy.call('zead_file'))).reason).toBe('unknown_tool')
})

verifies('A18', hintingHub, async ({ connect, served }) => {
  const client = await connect(served)
  const hinted = await client.call('read_file', { path: 'a.txt' })
  expect(reasonOf(hinted)).toBe('requires_activation')
  expect(textOf(hinted)).toBe("Tool 'read_file' requires activation. Call 'activate_file_ops' first.")
  expect((await refusalOf(client.call('raed_fiel'))).reason).toBe('unknown_tool')
  await client.settle()
  expect(client.listChanges).toBe(0)
})

verifies('R17-1', async ({ connect }) => {
  const client = await connect(hub('reveal'))
  const revealed = await client.call('read_file')
  expect(revealed.content).toEqual([{ type: 'text', text: 'read_file ran' }])
  expect(revealed._meta?.['io.github.unfold-mcp/activation']).toEqual({
    activated: ['files'],
    deactivated: [],
    appeared: ['read_file', 'write_file'],
    disappeared: [],
  })
  await client.waitForListChanges(1)
  await client.settle()
  expect(client.listChanges).toBe(1)
  expect(await client.toolNames()).toContain('read_file')
})

verifies('R17-2', async ({ serve }) => {
  for (const hiddenCalls of policies) {
    const toolbox = defineToolbox({
      ...info,
      groups: { files: { description: 'Files' }, network: { description: 'Network' } },
      hiddenCalls,
      permit: (principal, tool) => tool.name !== 'read_file' || principal?.id === 'ann',
    })
      .tool('read_file', { group: 'files' }, () => 'secret')
      .tool('write_file', { group: 'files' }, () => 'wrote')
      .tool('fetch_url', { group: 'network' }, () => 'fetched')
    const server = await serve(toolbox)
    const bob = await server.connect({ principal: { id: 'bob' }, view: 'groups=network' })
    const refusal = await refusalOf(bob.call('read_file'))
    expect(refusal).toEqual({ code: -32602, reason: 'unknown_tool', message: expect.stringContaining('"read_file" not found') })
    const invented = await refusalOf(bob.call('zead_file'))
    expect(refusal.message).toBe(invented.message.replaceAll('zead_file', 'read_file'))
  }
})

verifies('R17-3', async ({ connect }) => {
  for (const hiddenCalls of policies) {
    const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } }, hiddenCalls })
      .tool('read_file', { group: 'files', when: () => false }, () => 'contents')
      .tool('sweep', { when: () => false }, () => 'swept')
      .tool('ping', {}, () => 'pong')
    const client = await connect(toolbox)
    expect((await refusalOf(client.call('read_file'))).reason).toBe('unknown_tool')
    expect((await refusalOf(client.call('sweep'))).reason).toBe('unknown_tool')
  }
})

verifies('R17-4', async ({ connect }) => {
  const groups = {
    cloud: { description: 'Cloud' },
    aws: { description: 'AWS', parent: 'cloud' },
    ecs: { description: 'ECS', parent: 'aws' },
  } as const
  const toolbox = defineToolbox({ ...info, groups, hiddenCalls: 'hint' }).tool('tasks', { group: 'ecs' }, () => 'tasks')
  const client = await connect(toolbox)
  expect(textOf(await client.call('tasks'))).toBe(
    "Tool 'tasks' requires activation. Call 'activate_cloud', then 'activate_aws', then 'activate_ecs' first.",
  )
  await client.call('activate_cloud')
  expect(textOf(await client.call('tasks'))).toBe(
    "Tool 'tasks' requires activation. Call 'activate_aws', then 'activate_ecs' first.",
  )
})

verifies('R17-5', async ({ connect }) => {
  const client = await connect(hub('hint'), { view: 'groups=network' })
  const hinted = await client.call('read_file')
  expect(reasonOf(hinted)).toBe('requires_activation')
  expect(textOf(hinted)).toContain('?groups=files')
})

verifies('R17-6', async ({ connect }) => {
  const client = await connect(hub('reveal'), { view: 'groups=network' })
  const before = await client.tools()
  expect(textOf(await client.call('read_file'))).toBe('read_file ran')
  await client.settle()
  expect(await client.tools()).toEqual(before)
  expect(client.listChanges).toBe(0)
})

verifies('G08', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  const before = await client.tools()
  const answer = await client.call('activate_file_ops')
  expect(answer.isError).not.toBe(true)
  expect(textOf(answer)).toContain('read_file(path: string)')
  expect(textOf(answer)).not.toContain('fetch_url')
  await client.settle()
  expect(await client.tools()).toEqual(before)
  expect(client.listChanges).toBe(0)
})

verifies('R17-7', async ({ serve }) => {
  for (const exposure of ['search', 'lazy'] as const) {
    for (const hiddenCalls of policies) {
      const server = await serve(defineToolbox({ ...info, exposure, hiddenCalls }).tool('read_file', {}, () => 'text'))
      const client = await server.connect()
      expect(await client.toolNames()).not.toContain('read_file')
      if (hiddenCalls === 'reveal') expect(textOf(await client.call('read_file'))).toBe('text')
      else expect(textOf(await client.call('read_file'))).toContain('Call it with call_tool(name, arguments)')
      expect(await client.toolNames()).not.toContain('read_file')
    }
  }
})
