import { expect, test } from 'vitest'
import { testContext } from '../testing/index.ts'
import { defineToolbox } from '../toolbox.ts'

test('a URL that requests groups which exclude each other is rejected as an invalid URL, not as a declaration', async () => {
  const cloud = defineToolbox({
    name: 'cloud',
    version: '1.0.0',
    groups: { aws: { description: 'AWS', excludes: ['gcp'] }, gcp: { description: 'GCP' } },
  })
    .tool('ec2_list', { group: 'aws' }, () => '')
    .tool('gce_list', { group: 'gcp' }, () => '')
  for (const era of ['session', 'stateless'] as const) {
    await expect(testContext(cloud, { era, view: 'groups=aws,gcp' })).rejects.toMatchObject({
      reason: 'invalid_view',
      details: { parameter: 'groups', value: 'aws,gcp' },
    })
  }
})
