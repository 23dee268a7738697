import { defineToolbox, type Quota } from '@unfold-mcp/server'
import { replyData } from '@unfold-mcp/server/testing'
import { expect } from 'vitest'
import { reasonOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const names = ['one', 'two', 'three'] as const

const limited = (quota: Quota, description = 'A tool') => {
  const groups = { one: { description: 'One' }, two: { description: 'Two' }, three: { description: 'Three' } }
  const toolbox = defineToolbox({ name: 'hub', version: '1.0.0', groups, quota })
  for (const group of names) toolbox.tool(`in_${group}`, { group, description }, () => group)
  return toolbox
}

const tools = (shown: readonly string[]) => shown.filter((name) => name.startsWith('in_'))

verifies('R05-5', async ({ connect }) => {
  const client = await connect(limited({ groups: 2 }))
  for (const name of names.slice(0, 2)) await client.call(`activate_${name}`)
  await client.waitForListChanges(2)
  const reply = await client.call('activate_three')
  expect(textOf(reply)).toContain('Evicted (least recently used first): one.')
  expect(replyData(reply)).toMatchObject({ deactivated: [{ group: 'one', because: 'evicted' }], disappeared: ['in_one'] })
  expect(tools(await client.toolNames())).toEqual(['in_two', 'in_three'])
  await client.waitForListChanges(3)
  await client.settle()
  expect(client.listChanges).toBe(3)
})

verifies('R05-6', async ({ connect }) => {
  const client = await connect(limited({ groups: 2 }))
  for (const name of names.slice(0, 2)) await client.call(`activate_${name}`)
  await client.call('in_one')
  expect(textOf(await client.call('activate_three'))).toContain('Evicted (least recently used first): two.')
  expect(tools(await client.toolNames())).toEqual(['in_one', 'in_three'])
})

verifies('R05-7', async ({ connect }) => {
  const groups = { one: { description: 'One' }, two: { description: 'Two' }, three: { description: 'Three' } }
  const toolbox = defineToolbox({ name: 'hub', version: '1.0.0', groups, quota: { tokens: 370 } })
    .tool('in_one', { group: 'one', description: 'Small' }, () => '')
    .tool('in_two', { group: 'two', description: 'Small as well' }, () => '')
    .tool('in_three', { group: 'three', description: 'Large: '.padEnd(2_000, 'words ') }, () => '')
  const client = await connect(toolbox)
  for (const name of names.slice(0, 2)) await client.call(`activate_${name}`)
  expect(tools(await client.toolNames())).toEqual(['in_one', 'in_two'])
  expect(textOf(await client.call('activate_three'))).toContain('Evicted (least recently used first): one, two.')
  expect(tools(await client.toolNames())).toEqual(['in_three'])
})

verifies('R05-8', async ({ connect }) => {
  const client = await connect(limited({ groups: 2, whenFull: 'refuse' }))
  for (const name of names.slice(0, 2)) await client.call(`activate_${name}`)
  await client.waitForListChanges(2)
  const refused = await client.call('activate_three')
  expect(reasonOf(refused)).toBe('quota_full')
  expect(textOf(refused)).toBe('Group "three" does not fit: this server allows 2 groups at a time. Deactivate one of: one, two.')
  await client.settle()
  expect(client.listChanges).toBe(2)
  expect(tools(await client.toolNames())).toEqual(['in_one', 'in_two'])
  await client.call('deactivate', { group: 'one' })
  expect(reasonOf(await client.call('activate_three'))).toBeUndefined()
})

verifies('R05-9', async ({ connect }) => {
  const toolbox = limited({ tokens: 60 })
  for (let n = 0; n < 5; n++)
    toolbox.tool(`more_${n}`, { group: 'three', description: 'A tool with a long description' }, () => '')
  const client = await connect(toolbox)
  await client.call('activate_one')
  const refused = await client.call('activate_three')
  expect(reasonOf(refused)).toBe('quota_full')
  expect(textOf(refused)).toContain('the group needs more than that by itself')
  expect(tools(await client.toolNames())).toEqual(['in_one'])
})
