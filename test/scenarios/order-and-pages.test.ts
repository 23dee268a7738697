import { defineToolbox, type ToolboxOptions, ToolRegistry } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { refusalOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }

const hub = (more: Pick<ToolboxOptions<never>, 'exposure' | 'protocol'> = {}) => {
  const registry = new ToolRegistry()
  registry.register('zebra', {}, () => '')
  registry.registerInGroup('apple', {}, 'b', () => '')
  const toolbox = defineToolbox({ ...info, ...more, groups: { b: { description: 'B' }, a: { description: 'A' } } })
    .tool('yak', {}, () => '')
    .tool('in_b', { group: 'b' }, () => '')
    .tool('open', { activator: 'a' }, async (_, ctx) => {
      await ctx.activate('a')
    })
    .tool('in_a', { group: 'a' }, () => '')
    .tool('bee', {}, () => '')
    .use(registry)
  return { toolbox, registry }
}

verifies('A12-1', async ({ serve }) => {
  const server = await serve(hub().toolbox)
  const lists = new Set<string>()
  for (let round = 0; round < 3; round++) {
    const client = await server.connect()
    for (const _ of [1, 2]) lists.add(JSON.stringify(await client.tools()))
  }
  const again = await (await serve(hub().toolbox)).connect()
  lists.add(JSON.stringify(await again.tools()))
  expect(lists.size).toBe(1)
})

verifies('A12-2', async ({ serve }) => {
  const whole = await (await serve(hub().toolbox)).connect({ view: 'groups=a,b' })
  const paged = await (await serve(hub({ protocol: { pageSize: 2 } }).toolbox)).connect({ view: 'groups=a,b' })
  const pages: string[][] = []
  let page = await paged.client.request({ method: 'tools/list', params: {} })
  pages.push(page.tools.map(({ name }) => name))
  while (page.nextCursor !== undefined) {
    page = await paged.client.request({ method: 'tools/list', params: { cursor: page.nextCursor } })
    pages.push(page.tools.map(({ name }) => name))
  }
  expect(pages.flat()).toEqual(await whole.toolNames())
  expect(pages.slice(0, -1).every((names) => names.length === 2)).toBe(true)
})

verifies('F12', async ({ connect }) => {
  const { toolbox, registry } = hub({ exposure: { order: 'append' } })
  const client = await connect(toolbox)
  let before = await client.toolNames()
  const grows = async () => {
    const now = await client.toolNames()
    expect(now.slice(0, before.length)).toEqual(before)
    expect(now.length).toBeGreaterThan(before.length)
    before = now
  }
  await client.call('activate_b')
  await grows()
  registry.register('aardvark', {}, () => '')
  await grows()
  await client.call('open')
  await grows()
  expect(before.slice(-4)).toEqual(['in_b', 'apple', 'aardvark', 'in_a'])
  await client.call('deactivate', { group: 'b' })
  expect(await client.toolNames()).toEqual(before.filter((name) => name !== 'in_b' && name !== 'apple'))
})

verifies('R06-1', async ({ connect }) => {
  const client = await connect(hub().toolbox, { view: 'groups=a,b' })
  expect(await client.toolNames()).toEqual(['activate_b', 'open', 'deactivate', 'yak', 'in_b', 'in_a', 'bee', 'zebra', 'apple'])
})

verifies('R06-2', () => {
  const { toolbox, registry } = hub()
  expect(() => toolbox.tool('yak', {}, () => '')).toThrow('declared twice in hub')
  expect(() => registry.register('zebra', {}, () => '')).toThrow('registered already')
})

verifies('R06-3', async ({ connect }) => {
  const { toolbox, registry } = hub({ protocol: { pageSize: 2 } })
  const client = await connect(toolbox)
  const { nextCursor: cursor } = await client.client.request({ method: 'tools/list', params: {} })
  expect(cursor).toBeTypeOf('string')
  registry.register('late', {}, () => '')
  const refusal = await refusalOf(client.client.request({ method: 'tools/list', params: { cursor: cursor ?? '' } }))
  expect(refusal).toEqual({
    code: -32602,
    reason: 'stale_cursor',
    message: 'The tools changed since this cursor was made. List again without a cursor.',
  })
})

verifies('R06-4', async ({ connect }) => {
  const client = await connect(hub({ protocol: { pageSize: 2 } }).toolbox)
  for (const cursor of ['', 'garbage', 'zz.zz', '0.00000000000000000000000000000000x']) {
    const { code, reason } = await refusalOf(client.client.request({ method: 'tools/list', params: { cursor } }))
    expect([code, reason]).toEqual([-32602, 'invalid_cursor'])
  }
})
