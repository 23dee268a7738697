import { Failure, type ToolEntry, ToolGroups, type ToolHandler, ToolRegistry } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { z } from 'zod'
import { verifies } from '../verifies.ts'

const devops = () =>
  new ToolGroups()
    .withGroup('infra', 'Infrastructure management')
    .withGroup('monitor', 'Monitoring and observability')
    .withChildGroup('aws', 'infra', 'AWS-specific operations')
    .withChildGroup('gcp', 'infra', 'GCP-specific operations')
    .withExclusion(['aws', 'gcp'])

verifies('R07-1', async () => {
  const groups = devops()
  const active = () => ['infra', 'monitor', 'aws', 'gcp'].filter((name) => groups.isActive(name))
  await expect(groups.activate('aws')).rejects.toThrow('Activate "infra" first')
  await groups.activate('infra')
  await groups.activate('aws')
  expect(active()).toEqual(['infra', 'aws'])
  await groups.activate('gcp')
  expect(active()).toEqual(['infra', 'gcp'])
  await groups.deactivate('infra')
  expect(active()).toEqual([])
  await expect(groups.activate('azure')).rejects.toThrow('Unknown group "azure"')
  expect(() => groups.withGroup('infra', 'Again')).toThrow('declared twice')
})

verifies('R07-2', () => {
  expect(devops().describe()).toBe(
    [
      'infra: Infrastructure management',
      '  aws: AWS-specific operations',
      '  gcp: GCP-specific operations',
      'monitor: Monitoring and observability',
    ].join('\n'),
  )
})

verifies('R07-3', async () => {
  const registry = new ToolRegistry()
  const handler: ToolHandler<{ name: string }> = ({ name }) => `Hello, ${name}`
  registry.register('greet', { description: 'Say hello', inputSchema: z.object({ name: z.string() }) }, handler)
  registry.register('ping', {}, () => 'pong')
  expect(registry.listTools().tools.map(({ name }) => name)).toEqual(['greet', 'ping'])
  expect(await registry.callTool('greet', { name: 'Ann' })).toEqual({ content: [{ type: 'text', text: 'Hello, Ann' }] })
  expect(await registry.callTool('greet', { name: 1 })).toMatchObject({ isError: true })
  const first = registry.listTools(undefined, 1)
  expect(registry.listTools(first.nextCursor, 1).tools.map(({ name }) => name)).toEqual(['ping'])
  registry.unregister('greet')
  expect(registry.listTools().tools.map(({ name }) => name)).toEqual(['ping'])
  const entries: readonly ToolEntry[] = registry.entries()
  expect(entries.map(({ tool }) => tool.name)).toEqual(['ping'])
})

verifies('R07-4', async () => {
  const groups = devops()
  const registry = new ToolRegistry({ groups })
  let ready = false
  registry.registerInGroup('ec2_list', {}, 'aws', () => '')
  registry.registerConditional(
    'report',
    {},
    () => ready,
    () => '',
  )
  registry.registerConditional(
    'shaky',
    {},
    () => JSON.parse('not json'),
    () => '',
  )
  const has = () => ['ec2_list', 'report', 'shaky', 'absent'].filter((name) => registry.hasTool(name))
  expect(has()).toEqual([])
  ready = true
  expect(has()).toEqual(['report'])
  await groups.activate('infra')
  expect(has()).toEqual(['report'])
  await groups.activate('aws')
  expect(has()).toEqual(['ec2_list', 'report'])
})

verifies('R07-5', () => {
  const registry = new ToolRegistry()
  registry.register('ping', { description: 'Say pong' }, () => 'pong')
  expect(registry.unregister('ping')).toMatchObject({ name: 'ping', description: 'Say pong' })
  expect(registry.unregister('ping')).toBeUndefined()
})

verifies('R07-6', async () => {
  const registry = new ToolRegistry({ groups: devops() })
  registry.registerInGroup('ec2_list', {}, 'aws', () => '')
  const failureOf = (name: string): Promise<Failure> =>
    registry.callTool(name).then(
      () => expect.unreachable(),
      (error: Failure) => error,
    )
  const [hidden, unknown] = [await failureOf('ec2_list'), await failureOf('xc2_list')]
  expect(hidden).toBeInstanceOf(Failure)
  expect(hidden.reason).toBe('unknown_tool')
  expect(hidden.message).toBe(unknown.message.replace('xc2_list', 'ec2_list'))
})
