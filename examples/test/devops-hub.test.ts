import { describe, expect, test } from 'vitest'
import { Fleet } from '../src/devops-hub/fleet.ts'
import { devopsHub } from '../src/devops-hub/hub.ts'
import { type Connected, connected, eras } from './connected.ts'

function clock() {
  let time = Date.UTC(2026, 0, 1)
  return {
    now: () => time,
    pass(seconds: number) {
      time += seconds * 1_000
    },
  }
}

async function opened(time: ReturnType<typeof clock>, ...groups: string[]): Promise<Connected> {
  const session = await connected(devopsHub(new Fleet(time.now)))
  for (const group of groups) await session.call(`activate_${group}`)
  return session
}

const menu = ['infra', 'deploy', 'monitor', 'aws', 'gcp', 'k8s'].map((group) => `activate_${group}`).concat('deactivate')
const aws = ['ec2_list', 'ec2_start', 'ec2_stop', 's3_list']
const gcp = ['gce_list', 'gce_start', 'gce_stop', 'gcs_list']
const k8s = ['pods_list', 'pods_scale']
const deploy = ['deploy_start', 'deploy_status', 'deploy_rollback']
const monitor = ['metrics', 'alerts', 'logs']

describe('the hierarchy', () => {
  test('a new session sees the menu; without sessions everything but the menu is listed', async () => {
    await using session = await opened(clock())
    expect(await session.toolNames()).toEqual(menu)
    await using stateless = await connected(devopsHub(new Fleet(Date.now)), { era: 'stateless' })
    expect(await stateless.toolNames()).toEqual([...aws, ...gcp, ...k8s, ...deploy, ...monitor])
  })

  test('a cloud can only be activated inside infra, whose reply names the child groups', async () => {
    await using session = await opened(clock())
    await expect(session.call('activate_aws')).rejects.toThrow(/infra.* first/)
    await expect(session.call('ec2_list')).rejects.toThrow("Call 'activate_infra', then 'activate_aws' first")
    expect(await session.text('activate_infra')).toContain('- activate_k8s: Kubernetes operations.')
    await session.call('activate_aws')
    expect(await session.toolNames()).toEqual([...menu, ...aws])
  })

  test('of aws and gcp the one activated last is active, and k8s is not affected', async () => {
    await using session = await opened(clock(), 'infra', 'aws', 'k8s')
    expect(await session.text('activate_gcp')).toContain('Deactivated exclusive groups: aws')
    expect(await session.toolNames()).toEqual([...menu, ...gcp, ...k8s])
  })

  test('deactivating infra deactivates its children', async () => {
    await using session = await opened(clock(), 'infra', 'aws', 'k8s', 'monitor')
    await session.call('deactivate', { group: 'infra' })
    expect(await session.toolNames()).toEqual([...menu, ...monitor])
  })
})

describe('the fleet', () => {
  test.each(eras)('all clients of both eras share the fleet (%s)', async (era) => {
    const fleet = new Fleet(clock().now)
    await using session = await connected(devopsHub(fleet), { era })
    await session.call('activate_infra')
    await session.call('activate_aws')
    expect(await session.text('ec2_stop', { id: 'i-0a11' })).toBe('i-0a11 is stopped.')
    expect(fleet.instances('aws')[0]?.state).toBe('stopped')
  })

  test('machines take time to start', async () => {
    const time = clock()
    await using session = await opened(time, 'infra', 'aws')
    const states = async () =>
      (await session.data<{ instances: { id: string; state: string }[] }>('ec2_list')).instances.map(({ state }) => state)
    expect(await states()).toEqual(['running', 'running', 'stopped'])
    expect(await session.text('ec2_start', { id: 'i-0b07' })).toBe('i-0b07 is starting.')
    time.pass(3)
    expect(await states()).toEqual(['running', 'running', 'running'])
    expect(await session.text('ec2_start', { id: 'i-0b07' })).toBe('i-0b07 is running already.')
    expect(await session.data('s3_list')).toMatchObject({ buckets: [{ name: 'shop-images' }, { name: 'shop-backups' }] })
  })

  test('each cloud lists only its own machines', async () => {
    await using session = await opened(clock(), 'infra', 'gcp')
    await expect(session.call('gce_stop', { id: 'i-0a11' })).rejects.toThrow('Instances: gce-301, gce-302')
    expect(await session.text('gce_stop', { id: 'gce-301' })).toBe('gce-301 is stopped.')
    expect(await session.data('gcs_list')).toEqual({ buckets: [{ name: 'search-index', objects: 92, megabytes: 3_310 }] })
  })

  test('a deployment replaces pod after pod', async () => {
    const time = clock()
    await using session = await opened(time, 'infra', 'k8s', 'deploy')
    const versions = async () =>
      (await session.data<{ pods: { version: string }[] }>('pods_list', { service: 'checkout' })).pods.map(
        ({ version }) => version,
      )
    const started = await session.data('deploy_start', { service: 'checkout', version: '1.4.1' })
    expect(started).toMatchObject({ id: 'deploy-1', from: '1.4.0', to: '1.4.1', stage: 'rolling', replaced: '0 of 3 pods' })
    time.pass(4)
    expect(await versions()).toEqual(['1.4.1', '1.4.1', '1.4.0'])
    await expect(session.call('pods_scale', { service: 'checkout', replicas: 5 })).rejects.toThrow(
      'deploy-1 of checkout is still running',
    )
    time.pass(2)
    expect(await session.data('deploy_status', { service: 'checkout' })).toMatchObject({ deployments: [{ stage: 'done' }] })
    await session.call('pods_scale', { service: 'checkout', replicas: 5 })
    expect(await versions()).toEqual(Array(5).fill('1.4.1'))
  })

  test('a broken release raises an alert until it is rolled back', async () => {
    const time = clock()
    await using session = await opened(time, 'deploy', 'monitor')
    const critical = async () =>
      (await session.data<{ alerts: { severity: string; source: string }[] }>('alerts')).alerts.filter(
        ({ severity }) => severity === 'critical',
      )
    await session.call('deploy_start', { service: 'checkout', version: '1.5.0' })
    expect(await critical()).toEqual([])
    time.pass(60)
    expect(await critical()).toMatchObject([{ source: 'checkout' }])
    expect(await session.data('metrics')).toMatchObject({ services: [{ name: 'checkout', pods: 3, errorPercent: 33 }, {}] })
    expect(await session.data('deploy_rollback', { service: 'checkout' })).toMatchObject({ stage: 'rolled back' })
    expect(await critical()).toEqual([])
    const { events } = await session.data<{ events: { message: string }[] }>('logs', { source: 'checkout' })
    expect(events.map(({ message }) => message)).toEqual(['deploy-1: rolled back to 1.4.0.', 'deploy-1: from 1.4.0 to 1.5.0.'])
    await session.call('deploy_start', { service: 'checkout', version: '1.4.1' })
  })

  test('stopped machines have no load and are reported', async () => {
    await using session = await opened(clock(), 'monitor')
    const { instances } = await session.data<{ instances: { name: string; cpuPercent: number }[] }>('metrics')
    expect(instances.filter(({ cpuPercent }) => cpuPercent === 0).map(({ name }) => name)).toEqual(['batch-1', 'search-2'])
    expect(await session.data('alerts')).toMatchObject({ alerts: [{ source: 'batch-1' }, { source: 'search-2' }] })
  })

  test('errors list the known names', async () => {
    await using session = await opened(clock(), 'infra', 'k8s', 'deploy')
    const refusal = (name: string, args: object) => session.call(name, { ...args }).then(String, (error: Error) => error.message)
    expect(await refusal('pods_list', { service: 'payments' })).toContain('Services: checkout, catalog')
    expect(await refusal('pods_scale', { service: 'checkout', replicas: 21 })).toContain('replicas')
    expect(await refusal('deploy_start', { service: 'catalog', version: '3' })).toContain('Releases: 2.0.3, 2.1.0')
    expect(await refusal('deploy_start', { service: 'catalog', version: '2.0.3' })).toContain('already runs 2.0.3')
    expect(await refusal('deploy_rollback', { service: 'catalog' })).toContain('Nothing to roll back')
  })
})
