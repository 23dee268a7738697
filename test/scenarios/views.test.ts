import { defineToolbox, isFailure } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { textOf } from '../replies.ts'
import { type Harness, verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }

const hub = () =>
  defineToolbox({
    ...info,
    groups: {
      files: { description: 'Files' },
      cloud: { description: 'Cloud' },
      aws: { description: 'AWS', parent: 'cloud', excludes: ['gcp'] },
      gcp: { description: 'GCP', parent: 'cloud' },
    },
  })
    .tool('read_file', { group: 'files', tags: ['storage'], readOnly: true }, () => 'contents')
    .tool('write_file', { group: 'files', tags: ['storage'] }, () => 'wrote')
    .tool('regions', { group: 'cloud', readOnly: true }, () => 'regions')
    .tool('s3_list', { group: 'aws', tags: ['storage'], readOnly: true }, () => 'buckets')
    .tool('gce_list', { group: 'gcp', readOnly: true }, () => 'instances')
    .tool('convert', { version: '1', description: 'Convert, old' }, () => 'old')
    .tool('convert', { version: '2', description: 'Convert, new' }, () => 'new')

const withoutActivators = (names: readonly string[]) => names.filter((name) => !name.includes('activate'))

verifies('R13-1', async ({ serve }) => {
  const server = await serve(hub())
  const client = await server.connect({ view: 'groups=files,aws' })
  expect(withoutActivators(await client.toolNames())).toEqual(['read_file', 'write_file', 'regions', 's3_list', 'convert'])
  await client.call('deactivate', { group: 'files' })
  expect(withoutActivators(await client.toolNames())).toEqual(['regions', 's3_list', 'convert'])
  const plain = await server.connect()
  expect(withoutActivators(await plain.toolNames())).toEqual(['convert'])
})

verifies('R13-2', async ({ serve }) => {
  const server = await serve(hub())
  const client = await server.connect({ view: 'groups=files,aws' })
  expect(await client.toolNames()).toEqual(['read_file', 'write_file', 'regions', 's3_list', 'convert'])
  expect(textOf(await client.call('s3_list'))).toBe('buckets')
})

verifies('R13-3', async ({ connect }) => {
  const client = await connect(hub(), { view: 'tags=storage' })
  expect(withoutActivators(await client.toolNames())).toEqual(['read_file', 'write_file', 's3_list', 'convert'])
  expect(textOf(await client.call('s3_list'))).toBe('buckets')
})

verifies('R13-4', async ({ serve }) => {
  const server = await serve(hub())
  const pinned = await server.connect({ view: 'versions=convert@1' })
  expect((await pinned.tools()).find(({ name }) => name === 'convert')?.description).toBe('Convert, old')
  expect(textOf(await pinned.call('convert'))).toBe('old')
  const plain = await server.connect()
  expect(textOf(await plain.call('convert'))).toBe('new')
})

verifies('R13-5', async ({ connect }) => {
  const client = await connect(hub(), { view: 'exposure=everything' })
  expect(await client.toolNames()).toEqual(['read_file', 'write_file', 'regions', 's3_list', 'gce_list', 'convert'])
  expect(textOf(await client.call('s3_list'))).toBe('buckets')
  expect(textOf(await client.call('gce_list'))).toBe('instances')
})

verifies('R13-9', async ({ connect }) => {
  const client = await connect(hub(), { view: 'exposure=everything&groups=files' })
  expect(await client.toolNames()).toEqual(['read_file', 'write_file', 'regions', 's3_list', 'gce_list', 'convert'])
})

/** Returns the error for a client that requests this view. */
async function refusalOfView({ wire }: Pick<Harness, 'wire'>, view: string, served: object = hub()): Promise<string> {
  try {
    const { greeting } = await wire(served, { view })
    return `${String(greeting.error?.data?.reason)}: ${greeting.error?.message}`
  } catch (error) {
    // On stdio the view is a command line option, so the error appears at start-up.
    return isFailure(error) ? `${error.reason}: ${error.message}` : String(error)
  }
}

verifies('R13-6', async (harness) => {
  const wrong = {
    'groups=flies': 'Nearest: files.',
    'tags=storag': 'Nearest: storage.',
    'versions=convert@3': 'Known: convert@1, convert@2.',
    'versions=convert': 'Unknown versions "convert" in the URL.',
    'exposure=evrything': 'Nearest: everything.',
    'readOnly=perhaps': 'Known: true, false.',
  }
  for (const [view, hint] of Object.entries(wrong)) {
    const refusal = await refusalOfView(harness, view)
    expect(refusal).toContain('invalid_view: Unknown ')
    expect(refusal).toContain(hint)
  }
})

verifies('R13-7', async ({ connect, testTransport }) => {
  const client = await connect(hub(), { view: 'readOnly=true&exposure=everything' })
  expect(await client.toolNames()).toEqual(['read_file', 'regions', 's3_list', 'gce_list'])
  await expect(client.call('write_file')).rejects.toThrow('not found')
  if (testTransport.era === 'stateless') return
  const grouped = await connect(hub(), { view: 'readOnly=true' })
  await grouped.call('activate_files')
  expect(withoutActivators(await grouped.toolNames())).toEqual(['read_file'])
})

verifies('R13-8', async (harness) => {
  const refusal = await refusalOfView(harness, 'groups=aws,gcp')
  expect(refusal).toMatch(/^invalid_view: .*"aws" and "gcp" cannot be active at the same time/u)
})

verifies('R13-10', async (harness) => {
  const groups = { one: { description: 'One' }, two: { description: 'Two' } }
  const toolbox = defineToolbox({ ...info, groups, quota: { groups: 1 } })
    .tool('in_one', { group: 'one' }, () => '')
    .tool('in_two', { group: 'two' }, () => '')
  expect(await refusalOfView(harness, 'groups=one,two', toolbox)).toMatch(/^invalid_view: .*1 groups? at a time/u)
  const client = await harness.connect(toolbox, { view: 'groups=two' })
  expect(await client.toolNames()).toContain('in_two')
})
