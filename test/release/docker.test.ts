import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../packages/cli/test/command.ts'
import { commandOf, textsOf } from './dockerfile.ts'
import { build, image } from './image.ts'
import { readYaml } from './manifests.ts'
import { whileServing } from './serving.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8')

const compose = (await readYaml('compose.yaml')) as {
  readonly services: {
    readonly gateway: {
      readonly extends: { readonly file: string; readonly service: 'gateway' }
      readonly ports: readonly string[]
      readonly volumes: readonly string[]
    }
  }
  readonly volumes: object
}

const server = `import { defineToolbox, serve } from '@unfold-mcp/server'
const hub = defineToolbox({ name: 'hub', version: '1.0.0' })
hub.tool('ping', { description: 'Answers' }, () => 'pong')
await serve(hub)
`

// Needs no container engine: the steps of the Dockerfile run in a temporary folder instead of the root of the image.
describe('the image, built step by step in an empty folder', () => {
  let folder = ''
  const inFolder = (text: string): string => text.replaceAll(/(?<![\w.])\/(?=packed|opt\/unfold|config|data)/gu, `${folder}/`)
  const environment = () => {
    const variables = Object.fromEntries(textsOf(image, 'ENV').map((text) => [...text.split('=')] as [string, string]))
    const own = Object.entries(variables).map(([name, value]) => [name, inFolder(value).replace('$PATH', process.env.PATH ?? '')])
    return { ...process.env, HOME: folder, ...(Object.fromEntries(own) as Record<string, string>) }
  }
  const workdir = () => inFolder(textsOf(image, 'WORKDIR').at(-1) ?? '')
  const unfold = (...args: readonly string[]) => {
    const [command = '', ...first] = commandOf(image, 'ENTRYPOINT')
    return run(command, [...first, ...args], { cwd: workdir(), env: environment() })
  }

  /** Executes a `RUN` instruction; fails with its output. */
  async function runStep(text: string, cwd: string): Promise<void> {
    // The user of the image does not exist on this machine.
    const step = inFolder(text).replace(/chown node:node .*$/u, 'true')
    // The build cache is npm's cache.
    const { code, stdout, stderr } = await run('sh', ['-c', step.replace('--cache /npm-cache', '--prefer-offline')], {
      cwd,
      env: process.env,
    })
    expect(`${step}\n${code === 0 ? 'ok' : stdout + stderr}`).toBe(`${step}\nok`)
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unfold-image-'))
    for (const text of textsOf(build, 'RUN')) await runStep(text, root)
    const first = inFolder(textsOf(image, 'WORKDIR')[0] ?? '')
    await mkdir(first, { recursive: true })
    for (const text of textsOf(image, 'RUN')) await runStep(text, first)
  }, 240_000)

  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

  test('has the command of the packed packages, and not the browser server', { timeout: 180_000 }, async () => {
    const { version } = JSON.parse(await read('packages/cli/package.json')) as { readonly version: string }
    expect(await unfold('--version')).toMatchObject({ code: 0, stdout: `${version}\n` })
    expect((await stat(join(folder, 'opt/unfold/node_modules/@unfold-mcp/cli'))).isDirectory()).toBe(true)
    expect(existsSync(join(folder, 'opt/unfold/node_modules/@unfold-mcp/browser'))).toBe(false)
  })

  test('serves only with a token, and then is healthy', { timeout: 240_000 }, async () => {
    const command = [...commandOf(image, 'ENTRYPOINT'), ...commandOf(image, 'CMD')]
    expect(command).toContain('0.0.0.0')
    await writeFile(join(workdir(), 'unfold.json'), '{ "mcpServers": {} }')
    const refused = await unfold(...commandOf(image, 'CMD'))
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('unfold token add')

    await writeFile(join(folder, 'opt/unfold/server.mjs'), server)
    const added = await unfold(
      'add',
      'hub',
      '--yes',
      '--config',
      'unfold.json',
      '--',
      'node',
      join(folder, 'opt/unfold/server.mjs'),
    )
    expect(added).toMatchObject({ code: 0 })
    const token = (await unfold('token', 'add', 'laptop')).stdout.trim()

    // Tests listen on 127.0.0.1 and a free port.
    const local = command.map((word) => (word === '0.0.0.0' ? '127.0.0.1' : word))
    let healthcheck: readonly string[] = []
    const isHealthy = () => run(healthcheck[0] ?? '', healthcheck.slice(1), { env: environment() })
    await whileServing([...local, '--http', '0', '--json'], { cwd: workdir(), env: environment() }, async (url) => {
      healthcheck = commandOf(image, 'HEALTHCHECK').map((word) => word.replace(':7420', `:${new URL(url).port}`))
      expect(await isHealthy()).toMatchObject({ code: 0 })
      expect((await unfold('call', url, 'hub__ping')).code).not.toBe(0)
      const called = await unfold('call', url, 'hub__ping', '--header', `Authorization: Bearer ${token}`)
      expect(called).toMatchObject({ code: 0, stdout: 'pong\n' })
    })
    expect(await isHealthy()).toMatchObject({ code: 1 })
  })
})

test('the Dockerfile copies what exists, and runs without privileges', () => {
  const copies = [...build, ...image].filter(({ keyword, options }) => keyword === 'COPY' && !options.join().includes('--from='))
  const sources = copies.flatMap(({ text }) => text.split(' ').slice(0, -1))
  expect(sources.length).toBeGreaterThan(0)
  expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([])
  expect(textsOf(image, 'USER')).toEqual(['node'])
  // An instruction after USER that needs root would fail.
  const [user] = image.flatMap(({ keyword }, at) => (keyword === 'USER' ? [at] : []))
  expect(image.slice(user).filter(({ keyword }) => keyword === 'RUN')).toEqual([])
})

test('build output is not copied into the image', async () => {
  const ignored = (await read('.dockerignore')).split('\n')
  expect(ignored).toEqual(
    expect.arrayContaining(['.git', '**/node_modules', '**/dist', 'packages/cli/bundle', 'config', '**/.env']),
  )
})

test('compose publishes the port of the image on 127.0.0.1 and mounts its folders', async () => {
  const { gateway } = compose.services
  const [port] = textsOf(image, 'EXPOSE')
  expect(gateway.ports).toEqual([`127.0.0.1:${port}:${port}`])
  const { file, service } = gateway.extends
  const base = (await readYaml(file)) as { readonly services: { readonly [name: string]: { readonly build: string } } }
  // Relative to the file that contains it.
  expect(join(dirname(file), base.services[service]?.build ?? '')).toBe('.')
  expect(base.services[service]).toMatchObject({
    init: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    restart: 'unless-stopped',
  })
  const mounted = new Map(gateway.volumes.map((volume) => volume.split(':').toReversed() as [string, string]))
  expect(mounted.get(textsOf(image, 'WORKDIR').at(-1) ?? '')).toBe('./config')
  const data = textsOf(image, 'ENV')
    .find((text) => text.startsWith('UNFOLD_HOME='))
    ?.slice('UNFOLD_HOME='.length)
  expect(Object.keys(compose.volumes)).toEqual([mounted.get(data ?? '')])
})
