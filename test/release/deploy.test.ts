import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main, run } from '../../packages/cli/test/command.ts'
import { defaultDrainMs } from '../../packages/gateway/src/drain.ts'
import { needs } from '../needs.ts'
import { commandOf, textsOf } from './dockerfile.ts'
import { image } from './image.ts'
import { readManifest, readYaml } from './manifests.ts'
import { whileServing } from './serving.ts'

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url))

interface Container {
  readonly extends?: { readonly file: string; readonly service: string }
  readonly hostname?: string
  readonly command?: readonly string[]
  readonly environment?: { readonly [name: string]: string }
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes: readonly string[]
}

const compose = (await readYaml('deploy/compose.yaml')) as {
  readonly services: { readonly [name: string]: Container }
  readonly networks: { readonly [name: string]: { readonly internal?: boolean } | null }
  readonly volumes: object
}
const base = (await readYaml('deploy/gateway.yaml')) as {
  readonly services: { readonly gateway: { readonly stop_grace_period: string } }
}
const replicas = Object.entries(compose.services).filter(([, { extends: extended }]) => extended !== undefined)
const gateway = (await readManifest('deployment')).spec?.template.spec?.containers[0]

/** Directives of the Caddyfile, without comments, each as its words. */
const directives = (await readFile(join(deploy, 'Caddyfile'), 'utf8'))
  .split('\n')
  .map((line) => line.trim().split(' '))
  .filter(([first = '']) => first !== '' && first !== '}' && !first.startsWith('#'))
const directive = (name: string): readonly string[] | undefined => directives.find(([first]) => first === name)?.slice(1)

/** How long a running installation gets when the gateway stops. */
const installationSeconds = 60

describe('compose', () => {
  test('runs at least two replicas of the same container, each with its own name and data', () => {
    expect(replicas.length).toBeGreaterThanOrEqual(2)
    for (const [name, { extends: extended, hostname, environment }] of replicas) {
      expect(extended).toEqual({ file: 'gateway.yaml', service: 'gateway' })
      expect(hostname).toBe(name)
      expect(environment?.REPLICA_HOST).toBe(name)
    }
    const data = replicas.flatMap(([, { volumes }]) => volumes.filter((volume) => volume.endsWith(':/data')))
    expect(new Set(data).size).toBe(replicas.length)
    const used = Object.values(compose.services).flatMap(({ volumes }) => volumes.map((volume) => volume.split(':')[0] ?? ''))
    expect(used.filter((volume) => !volume.startsWith('.')).toSorted()).toEqual(Object.keys(compose.volumes).toSorted())
  })

  test('replicas get the time to drain before they are killed', () => {
    const seconds = Number(base.services.gateway.stop_grace_period.replace(/s$/u, ''))
    expect(seconds).toBeGreaterThan(defaultDrainMs / 1_000 + installationSeconds)
  })

  test('only the load balancer is published, on 127.0.0.1, and only the replicas reach Valkey', () => {
    const [port] = textsOf(image, 'EXPOSE')
    const published = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined)
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([['balancer', [`127.0.0.1:${port}:${port}`]]])
    expect(compose.services.valkey?.networks).toEqual(['state'])
    expect(compose.networks.state).toEqual({ internal: true })
    const connected = Object.entries(compose.services).filter(([, { networks }]) => networks.includes('state'))
    expect(connected.map(([name]) => name)).toEqual([...replicas.map(([name]) => name), 'valkey'])
  })

  test('Valkey stores what it acknowledges and evicts nothing', () => {
    const command = compose.services.valkey?.command?.join(' ')
    for (const option of ['--appendonly yes', '--appendfsync always', '--maxmemory-policy noeviction', '--requirepass "$$'])
      expect(command).toContain(option)
  })

  const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0
  test.skipIf(!hasCompose)(
    `docker compose accepts the files${hasCompose ? '' : ' (skipped: docker compose not installed)'}`,
    async () => {
      const env = { ...process.env, VALKEY_PASSWORD: 'password', UNFOLD_CLUSTER_SECRET: 'secret' }
      for (const file of [join(deploy, 'compose.yaml'), join(deploy, '../compose.yaml')])
        expect(await run('docker', ['compose', '--file', file, 'config', '--quiet'], { env })).toMatchObject({ code: 0 })
    },
  )
})

describe('load balancer', () => {
  test('sends requests to all replicas in turn, without sticky sessions', () => {
    const [port] = textsOf(image, 'EXPOSE')
    expect(directive('reverse_proxy')).toEqual([...replicas.map(([name]) => `${name}:${port}`), '{'])
    expect(directives.filter(([name]) => name === 'lb_policy')).toEqual([['lb_policy', 'round_robin']])
  })

  test('sends a request again only if the replica accepted no connection', () => {
    // Caddy's default for other failures: only GET.
    expect(directive('lb_retry_match')).toBeUndefined()
    expect(directive('lb_try_duration')).toBeDefined()
    expect(directive('keepalive')).toEqual(['off'])
  })

  test('does not buffer or time out event streams, and ends calls of clients that disconnect', () => {
    for (const name of ['flush_interval', 'response_buffers', 'read_timeout', 'response_header_timeout', 'stream_timeout'])
      expect([name, directive(name)]).toEqual([name, undefined])
  })

  const caddy = needs('caddy')
  test.skipIf(caddy.isMissing)(`Caddy accepts the file${caddy.note}`, async () => {
    const file = ['--config', join(deploy, 'Caddyfile'), '--adapter', 'caddyfile']
    expect(await run('caddy', ['validate', ...file], { env: process.env })).toMatchObject({ code: 0 })
  })
})

test('no file contains a secret', async () => {
  const files = (await readdir(deploy, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) {
    if (name === '.env') continue
    const text = await readFile(join(parentPath, name), 'utf8')
    expect([name, /^kind: Secret$/mu.test(text)]).toEqual([name, false])
    // Long random text, such as a key or a hash.
    expect([name, text.match(/[\w+/-]{32,}/gu)?.filter((word) => /\d/u.test(word) && !word.includes('/'))]).toEqual([
      name,
      undefined,
    ])
  }
  const variables = Object.values(compose.services).flatMap(({ environment = {} }) => Object.entries(environment))
  const sensitive = variables.filter(([name]) => /URL|SECRET|PASSWORD|AUTH/u.test(name))
  expect(sensitive.length).toBeGreaterThan(0)
  expect(sensitive.filter(([, value]) => !value.includes('${'))).toEqual([])
  expect(await readFile(join(deploy, 'config/unfold.json'), 'utf8')).not.toMatch(/"(?:secret|url|hash)":/u)
})

test('compose and Kubernetes start the gateway with the same arguments', () => {
  for (const [, { command }] of replicas) expect(command).toEqual(gateway?.args)
})

describe('the command of the manifests, in an empty folder', () => {
  let folder = ''
  const environment = () => ({
    PATH: process.env.PATH,
    HOME: folder,
    UNFOLD_HOME: join(folder, 'data'),
    REPLICA_HOST: '127.0.0.1',
    // Nothing listens here: a gateway starts without Redis.
    UNFOLD_CLUSTER_URL: 'redis://127.0.0.1:1',
    UNFOLD_CLUSTER_SECRET: 'only-for-this-test-'.repeat(2),
  })
  const config = () => join(folder, 'config')
  const unfold = (...args: readonly string[]) => run(process.execPath, [main, ...args], { cwd: config(), env: environment() })
  // Tests listen on 127.0.0.1 and a free port.
  const args = () => [...(gateway?.args ?? []), '--host', '127.0.0.1', '--http', '0', '--json']

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unfold-deploy-'))
    await mkdir(config())
    await copyFile(join(deploy, 'config/unfold.json'), join(config(), 'unfold.json'))
  })

  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

  test('does not start without a token', async () => {
    expect(commandOf(image, 'ENTRYPOINT')).toEqual(['unfold'])
    const refused = await unfold(...(gateway?.args ?? []))
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('unfold token add')
  })

  test('serves with a token, and every probe succeeds', async () => {
    expect(await unfold('token', 'add', 'team', '--config', 'unfold.json')).toMatchObject({ code: 0 })
    await chmod(join(config(), 'unfold.json'), 0o444)
    await chmod(config(), 0o555)
    const probes = [gateway?.startupProbe, gateway?.readinessProbe, gateway?.livenessProbe].map((probe) => probe?.httpGet?.path)
    expect(probes).toEqual(['/healthz', '/readyz', '/healthz'])
    const paths = [...probes, ...(directive('health_uri') ?? [])]
    await whileServing([process.execPath, main, ...args()], { cwd: config(), env: environment() }, async (url) => {
      for (const path of paths) expect([path, (await fetch(new URL(path ?? '', url))).status]).toEqual([path, 200])
    })
    await chmod(config(), 0o755)
  })
})
