import { defineToolbox, isFailure, listen, type Reason, type Report, ToolGroups, ToolRegistry } from '@unfold-mcp/server'
import { testContext } from '@unfold-mcp/server/testing'
import { describe, expect, test } from 'vitest'
import { ask, openSession, textOf } from './sender.ts'

function toolbox(report: (report: Report) => void = () => undefined) {
  return defineToolbox({ name: 'small', version: '1.0.0', groups: { files: { description: 'Files' } }, report }).tool(
    'ping',
    {},
    () => 'pong',
  )
}

function refusal(work: () => unknown): { reason: Reason | undefined; message: string } {
  try {
    work()
  } catch (error) {
    return { reason: isFailure(error) ? error.reason : undefined, message: String(error) }
  }
  return { reason: undefined, message: 'The declaration was not rejected.' }
}

const nothing = () => undefined

describe('AT-T14: the name of a tool', () => {
  test.each(['', ' ', 'two words', 'a,b', 'naïve', 'x'.repeat(129), 'a/b', 'line\nbreak', '\u202eevil', 'tool\u0000', '🔧'])(
    '%j is rejected, and sanitized in the message',
    (name) => {
      for (const { reason, message } of [
        refusal(() => toolbox().tool(name, {}, nothing)),
        refusal(() => new ToolRegistry().register(name, {}, nothing)),
        refusal(() => toolbox().tool('other', { aliases: [name] }, nothing)),
      ]) {
        expect(reason).toBe('invalid_name')
        expect(message).toMatch(/Use 1 to 128 letters, digits/u)
        expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }
    },
  )

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', '-', '.', 'x'.repeat(128)])(
    '%j is an ordinary name',
    async (name) => {
      const box = toolbox()
        .tool(name, { version: '1' }, () => 'one')
        .tool(name, { version: '2' }, () => 'two')
      await using context = await testContext(box)
      expect(context.toolNames()).toContain(name)
      expect((await context.call(name)).content).toEqual([{ type: 'text', text: 'two' }])
      await using pinned = await testContext(box, { view: `versions=${name}@1` })
      expect((await pinned.call(name)).content).toEqual([{ type: 'text', text: 'one' }])
    },
  )

  test.each(['manage_tools', 'search_tools', 'describe_tools', 'call_tool', 'activate_files', 'deactivate'])(
    '%s is reserved for the library, for tools, aliases and later registrations',
    (name) => {
      const registry = new ToolRegistry()
      const box = toolbox().use(registry)
      expect(refusal(() => box.tool(name, {}, nothing)).reason).toBe('reserved_name')
      expect(refusal(() => box.tool('other', { aliases: [name] }, nothing)).reason).toBe('reserved_name')
      expect(refusal(() => registry.register(name, {}, nothing)).reason).toBe('reserved_name')
      expect(registry.hasTool(name)).toBe(false)
    },
  )

  test('that is declared twice is rejected, and the first declaration stays', async () => {
    const box = toolbox()
    expect(refusal(() => box.tool('ping', {}, () => 'other')).reason).toBe('duplicate_name')
    await using context = await testContext(box)
    expect((await context.call('ping')).content).toEqual([{ type: 'text', text: 'pong' }])
  })

  test('that another source also has is reported, and the declared tool is served', async () => {
    const reports: Report[] = []
    const registry = new ToolRegistry({ name: 'plugin' })
    const box = toolbox((report) => reports.push(report)).use(registry)
    registry.register('ping', {}, () => 'impostor')
    await using context = await testContext(box)
    expect((await context.call('ping')).content).toEqual([{ type: 'text', text: 'pong' }])
    expect(reports).toMatchObject([{ reason: 'name_clash', message: expect.stringContaining('plugin') }])
  })
})

describe('AT-T15: the name of a group', () => {
  test.each(['', 'two words', '__proto__', 'x'.repeat(101), 'a,b', 'é'])('%j is rejected', (name) => {
    const groups = JSON.parse(`{${JSON.stringify(name)}:{"description":"x"}}`) as Record<string, { description: string }>
    expect(refusal(() => defineToolbox({ name: 'x', version: '1', groups })).reason).toBe('invalid_name')
    expect(refusal(() => new ToolGroups().withGroup(name, 'x')).reason).toBe('invalid_name')
  })

  test.each(['constructor', 'toString', 'valueOf'])('%j is an ordinary name', async (name) => {
    const groups = new ToolGroups().withGroup(name, 'x')
    expect(groups.isActive(name)).toBe(false)
    await groups.activate(name)
    expect(groups.isActive(name)).toBe(true)
    expect(refusal(() => groups.withGroup(name, 'again')).reason).toBe('duplicate_name')
  })

  test('that does not exist is rejected in every option', () => {
    const registry = new ToolRegistry()
    const box = toolbox().use(registry)
    expect(refusal(() => registry.registerInGroup('a', {}, 'nope', nothing)).reason).toBe('unknown_group')
    expect(refusal(() => box.tool('a', { group: 'nope' as 'files' }, nothing)).reason).toBe('unknown_group')
    const orphan = { a: { description: 'a', parent: 'constructor' } } as unknown as { a: { description: string } }
    expect(refusal(() => defineToolbox({ name: 'x', version: '1', groups: orphan })).reason).toBe('unknown_group')
  })
})

describe('AT-T16: a definition that cannot be sent', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle

  test.each([
    ['a bigint in its schema', { inputSchema: { type: 'object', properties: { a: { default: 5n } } } }],
    ['a number that is not finite in its schema', { inputSchema: { type: 'object', properties: { a: { default: Infinity } } } }],
    ['a cycle in its schema', { inputSchema: { type: 'object', properties: cycle } }],
    ['a bigint in its _meta', { _meta: { size: 5n } }],
    ['a description that is not a string', { description: 5 }],
    ['a name that MCP does not allow for an alias', { aliases: ['two words'] }],
    ['an input that is not an object', { inputSchema: { type: 'string' } }],
  ])('because of %s is rejected while clients are connected, and their list does not change', async (_, tool) => {
    const registry = new ToolRegistry()
    await using server = await listen(toolbox().use(registry), { port: 0 })
    const port = Number(new URL(server.url).port)
    const session = await openSession(port)
    const before = (await ask(port, session, 'tools/list'))?.messages[0]?.result
    expect(refusal(() => registry.register('bad', tool as object, nothing)).reason).toMatch(/^invalid_(schema|name)$/u)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await ask(port, session, 'tools/list'))?.messages[0]?.result).toEqual(before)
    registry.register('good', {}, () => 'good')
    expect(textOf((await ask(port, session, 'tools/call', { name: 'good' }))?.messages[0])).toBe('good')
  })

  test('because another toolbox declares the same name is reported, and clients keep the previous list', async () => {
    const reports: Report[] = []
    const other = defineToolbox({ name: 'other', version: '1.0.0' })
    await using server = await listen(toolbox((report) => reports.push(report)).use(other), { port: 0 })
    const port = Number(new URL(server.url).port)
    const session = await openSession(port)
    other.tool('ping', {}, () => 'impostor')
    expect(textOf((await ask(port, session, 'tools/call', { name: 'ping' }))?.messages[0])).toBe('pong')
    expect(reports).toMatchObject([{ reason: 'duplicate_name' }])
  })

  test('because a tool has the former name of another tool is rejected', () => {
    expect(refusal(() => toolbox().tool('other', { aliases: ['ping'] }, nothing)).reason).toBe('duplicate_name')
  })
})
