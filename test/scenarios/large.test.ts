import { defineToolbox } from '@unfold-mcp/server'
import { replyData } from '@unfold-mcp/server/testing'
import { expect, vi } from 'vitest'
import { cpuTime } from '../cpu-time.ts'
import { office } from '../fixtures/office.ts'
import { reasonOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

// CPU time is measured for the whole process, so nothing else may run at the same time.
vi.setConfig({ maxConcurrency: 1, testTimeout: 300_000 })

const info = { name: 'hub', version: '1.0.0' }
const searching = { view: 'exposure=search' }

verifies('B15', async (harness) => {
  const client = await harness.connect(office(), searching)
  for (const query of ['x'.repeat(1_000_000), 'read a file '.repeat(83_000), '读'.repeat(330_000), ' '.repeat(1_000_000)]) {
    const { value, ms } = await cpuTime(() => client.call('search_tools', { query }))
    expect(value.isError).not.toBe(true)
    expect(textOf(value).length).toBeLessThan(2_000)
    expect(ms).toBeLessThan(2_000)
  }
})

verifies('B20', async (harness) => {
  const properties = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, { type: 'string', description: 'x'.repeat(1_000) }]),
  )
  const input = { type: 'object', properties, required: ['field_0'] } as const
  const toolbox = office()
  toolbox.tool('fill_form', { description: 'Fill in the long form', inputSchema: input }, () => 'filled')
  const client = await harness.connect(toolbox, searching)
  const { ms } = await cpuTime(async () => {
    const found = await client.call('search_tools', { query: 'fill in long form' })
    expect(textOf(found)).toContain('- fill_form(')
    expect(textOf(found).length).toBeLessThan(3_000)
    const wrong = await client.call('call_tool', { name: 'fill_form', arguments: { field_0: 7 } })
    expect(textOf(wrong)).toContain('field_0')
    expect(textOf(wrong).length).toBeLessThan(5_000)
    expect(textOf(await client.call('call_tool', { name: 'fill_form', arguments: { field_0: 'a' } }))).toBe('filled')
    expect(textOf(await client.call('describe_tools', { names: ['fill_form'] }))).toContain('field_4999')
  })
  expect(ms).toBeLessThan(10_000)
})

verifies('B21', async ({ serve, testTransport }) => {
  const toolbox = defineToolbox({ ...info, groups: { one: { description: 'One' }, two: { description: 'Two' } } })
  const subjects = ['invoice', 'parcel', 'ticket', 'recipe', 'contract']
  for (let index = 0; index < 20_000; index++) {
    const description = `Archive ${subjects[index % 5]} number ${index}`
    toolbox.tool(
      `archive_${index}`,
      { group: index % 2 === 0 ? 'one' : 'two', description, inputSchema: { type: 'object' } },
      () => `${index}`,
    )
  }
  const server = await serve(toolbox)
  const client = await server.connect({ view: testTransport.era === 'session' ? 'exposure=lazy' : 'exposure=search' })
  const quick = async (name: string, args: Record<string, unknown>, most = 2_000) => {
    const { value, ms } = await cpuTime(() => client.call(name, args))
    expect(ms).toBeLessThan(most)
    return value
  }
  // The first search indexes all tools.
  await quick('search_tools', { query: 'archive' }, 10_000)
  const found = await quick('search_tools', { query: 'archive_19999' })
  expect((replyData(found) as { names: string[] }).names[0]).toBe('archive_19999')
  expect(textOf(found)).toContain('of 20000 tools')
  expect(textOf(await quick('search_tools', { query: '' })).length).toBeLessThan(2_000)
  expect(textOf(await quick('manage_tools', { action: 'list' })).length).toBeLessThan(20_000)
  expect(textOf(await quick('call_tool', { name: 'archive_123' }))).toBe('123')
  await quick('describe_tools', { names: ['archiv_77'] })
  const enabled = await quick('manage_tools', { action: 'enable', tools: 'one' }, 10_000)
  expect(textOf(enabled).length).toBeLessThan(10_000)
  const disabled = await quick('manage_tools', { action: 'disable', tools: 'one' }, 10_000)
  expect(textOf(disabled).length).toBeLessThan(10_000)
})

verifies('B22', async (harness) => {
  const toolbox = defineToolbox(info)
  for (let index = 0; index < 2_000; index++) toolbox.tool(`archive_document_number_${index}`, {}, () => '')
  const client = await harness.connect(toolbox, { view: 'exposure=lazy' })
  const names = Array.from({ length: 20_000 }, (_, index) => `archive_dokument_nummer_${index}`)
  for (const [name, args] of [
    ['describe_tools', { names }],
    ['manage_tools', { action: 'enable', tools: names }],
    ['manage_tools', { action: 'disable', tools: [...names, 'archive_document_number_1'] }],
  ] as const) {
    const { value, ms } = await cpuTime(() => client.call(name, args))
    expect(textOf(value)).toContain('Nearest: archive_document_number_')
    expect(textOf(value)).toContain('19990')
    expect(textOf(value).length).toBeLessThan(5_000)
    expect(ms).toBeLessThan(2_000)
  }
  expect(reasonOf(await client.call('describe_tools', { names: [{}] }))).toBe('invalid_arguments')
})
