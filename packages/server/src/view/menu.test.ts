import { describe, expect, test } from 'vitest'
import { testServer, testTransports } from '../testing/index.ts'
import { defineToolbox } from '../toolbox.ts'

const cloud = (menu: 'all' | 'stepwise') =>
  defineToolbox({
    name: 'cloud',
    version: '1.0.0',
    menu,
    hiddenCalls: 'reveal',
    groups: {
      cloud: { description: 'Clouds' },
      aws: { description: 'Amazon', parent: 'cloud' },
      s3: { description: 'Buckets', parent: 'aws' },
      files: { description: 'Files' },
    },
  })
    .tool('list_regions', { group: 'cloud' }, () => 'regions')
    .tool('list_machines', { group: 'aws' }, () => 'machines')
    .tool('list_buckets', { group: 's3' }, () => 'buckets')
    .tool('read_file', { group: 'files' }, () => 'text')

describe.each(testTransports.filter(({ era }) => era === 'session'))('in a session over $transport', (testTransport) => {
  test('a stepwise menu lists the activators inside a group once it is active, and hides them with it', async () => {
    await using server = await testServer(cloud('stepwise'), testTransport)
    const client = await server.connect()
    expect(await client.toolNames()).toEqual(['activate_cloud', 'activate_files', 'deactivate'])
    const reply = JSON.stringify(await client.call('activate_cloud'))
    expect(reply).toContain('You can now activate')
    expect(reply.match(/activate_aws/gu)).toHaveLength(2)
    expect(await client.toolNames()).toContain('activate_aws')
    expect(await client.toolNames()).not.toContain('activate_s3')
    await client.call('activate_aws')
    expect(await client.toolNames()).toContain('activate_s3')
    await client.call('deactivate', { group: 'cloud' })
    expect(await client.toolNames()).toEqual(['activate_cloud', 'activate_files', 'deactivate'])
  })

  test('calling a deeply nested tool by name activates all its groups', async () => {
    await using server = await testServer(cloud('stepwise'), testTransport)
    const client = await server.connect()
    expect(JSON.stringify(await client.call('list_buckets'))).toContain('buckets')
    expect(await client.toolNames()).toEqual(expect.arrayContaining(['activate_s3', 'list_machines', 'list_buckets']))
  })

  test('otherwise all activators are listed, with their prerequisites', async () => {
    await using server = await testServer(cloud('all'), testTransport)
    const client = await server.connect()
    expect(await client.toolNames()).toEqual(['activate_cloud', 'activate_aws', 'activate_s3', 'activate_files', 'deactivate'])
  })
})
