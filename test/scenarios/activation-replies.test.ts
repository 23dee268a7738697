import { defineToolbox } from '@unfold-mcp/server'
import { replyData } from '@unfold-mcp/server/testing'
import { expect } from 'vitest'
import { z } from 'zod'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const hub = () =>
  defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: {
      cloud: { description: 'Cloud providers' },
      aws: { description: 'AWS operations', parent: 'cloud', excludes: ['gcp'] },
      gcp: { description: 'GCP operations', parent: 'cloud' },
    },
  })
    .tool('regions', { group: 'cloud', description: 'List regions. Of every provider.' }, () => '')
    .tool(
      'ec2_start',
      {
        group: 'aws',
        description: 'Start an instance',
        inputSchema: z.object({ image: z.string(), count: z.number().optional() }),
      },
      () => '',
    )
    .tool('gce_list', { group: 'gcp', description: 'List instances' }, () => '')

verifies('R18-1', async ({ connect }) => {
  const client = await connect(hub())
  expect(textOf(await client.call('activate_cloud'))).toContain('- regions() — List regions\n')
  expect(textOf(await client.call('activate_aws'))).toContain('- ec2_start(image: string, count?: number) — Start an instance\n')
  const switched = textOf(await client.call('activate_gcp'))
  expect(switched).toContain('- gce_list() — List instances\n')
  expect(switched).toContain('No longer listed: ec2_start.')
  expect(textOf(await client.call('deactivate', { group: 'cloud' }))).toContain('No longer listed: regions, gce_list.')
})

verifies('R18-2', async ({ connect }) => {
  const client = await connect(hub())
  const reply = await client.call('activate_cloud')
  expect(textOf(reply)).toContain('You can now activate:\n- activate_aws: AWS operations.\n- activate_gcp: GCP operations.')
  expect(replyData(reply)).toMatchObject({
    openable: [
      { group: 'aws', activator: 'activate_aws', description: 'AWS operations' },
      { group: 'gcp', activator: 'activate_gcp', description: 'GCP operations' },
    ],
  })
})

verifies('R18-3', async ({ connect }) => {
  const client = await connect(hub())
  await client.call('activate_cloud')
  await client.call('activate_aws')
  expect(replyData(await client.call('activate_gcp'))).toEqual({
    changed: true,
    activated: ['gcp'],
    deactivated: [{ group: 'aws', because: 'excluded' }],
    appeared: [{ name: 'gce_list', signature: 'gce_list() — List instances' }],
    disappeared: ['ec2_start'],
    openable: [],
  })
  expect(replyData(await client.call('activate_gcp'))).toMatchObject({ changed: false, appeared: [], disappeared: [] })
})

verifies('R18-4', async ({ connect }) => {
  const client = await connect(hub())
  expect(textOf(await client.call('activate_cloud'))).toContain('Call them by name.')
  expect((await client.call('regions')).isError).not.toBe(true)
})
