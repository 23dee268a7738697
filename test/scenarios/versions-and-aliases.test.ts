import { defineToolbox } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { refusalOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }

verifies('R05-15', async ({ connect }) => {
  const toolbox = defineToolbox(info)
    .tool('convert', { version: '2', description: 'Second' }, () => 'second')
    .tool('convert', { version: '10', description: 'Tenth' }, () => 'tenth')
    .tool('convert', { version: '10-beta', description: 'Before the tenth' }, () => 'beta')
  const client = await connect(toolbox)
  const tools = await client.tools()
  expect(tools.map(({ name, description }) => [name, description])).toEqual([['convert', 'Tenth']])
  expect(tools[0]?._meta).toMatchObject({ 'io.github.unfold-mcp/version': '10' })
  expect(textOf(await client.call('convert'))).toBe('tenth')
})

verifies('R05-16', async ({ connect }) => {
  const groups = { legacy: { description: 'As it was', versions: { convert: '1' } }, other: { description: 'Unrelated' } }
  const toolbox = defineToolbox({ ...info, groups })
    .tool('convert', { version: '1', description: 'First' }, () => 'first')
    .tool('convert', { version: '2', description: 'Second' }, () => 'second')
    .tool('restore', { group: 'legacy' }, () => 'restored')
  const client = await connect(toolbox)
  expect(textOf(await client.call('convert'))).toBe('second')
  await client.call('activate_legacy')
  expect((await client.tools()).filter(({ name }) => name === 'convert').map(({ description }) => description)).toEqual(['First'])
  expect(textOf(await client.call('convert'))).toBe('first')
  await client.call('deactivate', { group: 'legacy' })
  expect(textOf(await client.call('convert'))).toBe('second')
})

verifies('R05-17', async ({ connect }) => {
  const toolbox = defineToolbox(info).tool('list_files', { aliases: ['ls', 'dir'], description: 'List files' }, () => 'files')
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['list_files'])
  for (const name of ['list_files', 'ls', 'dir']) expect(textOf(await client.call(name))).toBe('files')
})

verifies('R05-18', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
  toolbox.tool('list_files', { group: 'files', aliases: ['ls'] }, () => 'files')
  const client = await connect(toolbox)
  const hidden = await refusalOf(client.call('ls'))
  const unknown = await refusalOf(client.call('xx'))
  expect(hidden).toEqual({ ...unknown, message: unknown.message.replaceAll('xx', 'ls') })
  await client.call('activate_files')
  expect(textOf(await client.call('ls'))).toBe('files')
})

verifies('R05-19', async ({ connect }) => {
  const toolbox = defineToolbox(info)
    .tool('look', { readOnly: true, idempotent: true }, () => '')
    .tool('wipe', { destructive: true, openWorld: false }, () => '')
    .tool('write', {}, () => '')
  const client = await connect(toolbox)
  expect((await client.tools()).map(({ annotations }) => annotations)).toEqual([
    { readOnlyHint: true, idempotentHint: true },
    { destructiveHint: true, openWorldHint: false },
    undefined,
  ])
})
