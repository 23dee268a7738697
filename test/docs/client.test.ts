import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, fileCache, type Tool } from '@unfold-mcp/client'
import { canonicalJson } from '@unfold-mcp/core'
import { defineToolbox, listen } from '@unfold-mcp/server'
import { testServer } from '@unfold-mcp/server/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { plantTomatoes, report, targets, trusted } from '../../docs/examples/client.ts'
import { toolNames, toolsOnDisk } from '../../docs/examples/client-cache.ts'
import { follow } from '../../docs/examples/client-changes.ts'
import { waterBed } from '../../docs/examples/client-errors.ts'
import { pool, water } from '../../docs/examples/client-pool.ts'
import { plugins as letters, workbench } from '../../docs/examples/dynamic-tools.ts'
import { library } from '../../docs/examples/getting-started.ts'
import { byNames, garden } from '../../docs/examples/identity.ts'
import { identityOf } from '../../docs/examples/identity-algorithm.ts'
import { toolsOf } from '../../docs/examples/plugins.ts'
import { kitchen } from '../../docs/examples/results-and-errors.ts'
import { type Home, home } from '../../packages/cli/test/command.ts'
import { tap } from '../../packages/client/test/counting-proxy.ts'
import { withGateway } from './running-gateway.ts'
import { RecordedClient, shownAs } from './transcript.ts'

const shows = (name: string, text: string): Promise<void> => expect(text).toMatchFileSnapshot(shownAs(name))

// Below the packages, so that files saved there can import them.
const root = fileURLToPath(new URL('../../', import.meta.url))
let folder = ''
let user: Home
beforeAll(async () => {
  await mkdir(join(root, 'node_modules/.cache'), { recursive: true })
  folder = await mkdtemp(join(root, 'node_modules/.cache/docs-client-'))
  user = await home()
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  await user[Symbol.asyncDispose]()
})

const anything = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const

test('identity: the three requests, before and after activating a group', async () => {
  await using server = await testServer(garden, { transport: 'memory', era: 'session' })
  await using client = await server.connect()
  const recorder = new RecordedClient(client)
  const ask = async (method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> => {
    const answer = (await client.client.request({ method, params }, anything)) as Record<string, unknown>
    const asked = Object.keys(params).length === 0 ? method : `${method} ${JSON.stringify(params)}`
    recorder.note(asked, JSON.stringify(answer, undefined, 2))
    return answer
  }
  const { server_id } = await ask('server/identity')
  await shows('identity-request', recorder.text)
  recorder.forget()
  await ask('tools/describe', { name: 'plant' })
  await shows('identity-describe', recorder.text)
  await client.tools()
  await recorder.call('activate_beds')
  const { added } = (await ask('io.github.unfold-mcp/changes', { since: server_id })) as { added: readonly Tool[] }
  expect(added.map(({ name }) => name)).toEqual(['plant', 'water'])
  const { tools, _meta } = await client.client.listTools(undefined, { cacheMode: 'bypass' })
  expect(tools).toHaveLength(5)
  await recorder.call('deactivate', { group: 'beds' })
  recorder.forget()
  await ask('io.github.unfold-mcp/changes', { since: _meta?.['io.github.unfold-mcp/identity'] })
  await ask('io.github.unfold-mcp/changes', { since: '550e8400-e29b-41d4-a716-446655440000' })
  await shows('identity-changes', recorder.text)
})

test('identity: the documented algorithm computes the identity of the server', async () => {
  for (const protocol of ['session', '2026-07-28'] as const) {
    await using connection = await connect({ server: garden }, { protocol })
    expect(identityOf(await connection.tools(), canonicalJson)).toBe((await connection.identity())?.server_id)
  }
  expect(identityOf([], canonicalJson)).toBe('e5a00aa9-991a-88a5-ae31-09844d84a555')
  await using named = await connect({ server: byNames.tool('weather', {}, () => 'Rain.') })
  expect(await named.identity()).toMatchObject({ basis: 'names' })
})

test('client: connects, calls, and reports invalid arguments', async () => {
  expect(await plantTomatoes({ server: garden })).toBe('garden has 3 tools and says: Tomatoes.')
  expect(targets).toHaveLength(4)
  expect(await waterBed({ server: garden }, 3)).toBe('Watered.')
  expect(await waterBed({ server: garden }, 'the third')).toContain('number')
  expect(await waterBed({ url: 'http://127.0.0.1:9/mcp' }, 3)).toBe('Nobody is at http://127.0.0.1:9/mcp.')
  expect((await water({ server: garden }, 1, 'ada')).isError).toBe(false)
  await pool.close()
})

test('client: large results go to files', async () => {
  const toolbox = defineToolbox({ name: 'reports', version: '1.0.0' }).tool('year_report', {}, () => [
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ])
  const [path = ''] = await report({ server: toolbox }, folder)
  expect(await readFile(path, 'utf8')).toBe('hi')
})

test('client: a reviewed identity is required on reconnect', async () => {
  await using connection = await connect({ server: garden })
  const { server_id = '' } = (await connection.identity()) ?? {}
  expect(await trusted({ server: garden }, server_id)).toContain('water')
  await expect(trusted({ server: garden }, '550e8400-e29b-41d4-a716-446655440000')).rejects.toMatchObject({
    reason: 'identity_mismatch',
  })
})

test('client: a cache on disk stores the list in the documented format', async () => {
  expect(toolsOnDisk).toBeDefined()
  await using listening = await listen(garden, { port: 0 })
  await using wire = await tap(Number(new URL(listening.url).port))
  const at = join(folder, 'tools')
  for (let i = 0; i < 3; i++) expect(await toolNames({ url: wire.url }, fileCache(at))).toEqual(['weather', 'plant', 'water'])
  expect(wire.count('tools/list')).toBe(1)
  const [file = ''] = await readdir(at)
  const saved = JSON.parse(await readFile(join(at, file), 'utf8')) as { tools: readonly unknown[] }
  const shown = { ...saved, key: '…', tools: ['…'] }
  const text = JSON.stringify(shown, undefined, 2)
    .replaceAll(new URL(wire.url).host, '127.0.0.1:8000')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, '2026-07-28T12:00:00.000Z')
  await shows('client-cache-file', `${text}\n`)
})

test('client: changes are reported one after another', async () => {
  const lines: string[] = []
  const done = new AbortController()
  await using listening = await listen(workbench, { port: 0 })
  const following = follow({ url: listening.url }, (line) => void lines.push(line), done.signal)
  await using connection = await connect({ url: listening.url })
  // Before it listens, the server sends no notifications.
  await vi.waitFor(
    async () => {
      await connection.call('load_plugin', { name: 'letters' })
      await expect.poll(() => lines).toContain('+ count_letters')
    },
    { timeout: 120_000 },
  )
  await connection.call('unload_plugin', { name: 'letters' })
  await expect.poll(() => lines).toContain('- count_letters')
  done.abort()
  await following.catch(() => undefined)
  expect(letters.entries()).toEqual([])
})

test('plugins: a folder is served, a save takes effect, and a broken plugin affects only itself', async () => {
  const at = join(folder, 'plugins')
  await mkdir(at)
  await copyFile(join(root, 'docs/examples/plugin-greetings.mjs'), join(at, 'greetings.mjs'))
  const { plugins, toolbox } = toolsOf(at)
  await using _ = plugins
  await plugins.ready()
  await using connection = await connect({ server: toolbox })
  expect((await connection.call('greet', { name: 'Ada' })).content).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
  expect((await connection.call('greet', { name: '' })).isError).toBe(true)
  await writeFile(join(at, 'broken.mjs'), 'throw new Error("no")')
  await plugins.rescan()
  expect(plugins.plugins().map(({ key, state }) => [key, state])).toEqual([
    ['broken.mjs', 'failed'],
    ['greetings.mjs', 'running'],
  ])
  expect((await connection.call('greet', { name: 'Bob' })).isError).toBe(false)
})

test('command line: the page shows the actual output', async () => {
  const server = join(folder, 'first-server.mjs')
  await copyFile(join(root, 'docs/examples/first-server.ts'), server)
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await user.unfold([...args, '--', process.execPath, server])
    const typed = args.map((word) => (/^[\w./=:@-]+$/u.test(word) ? word : `'${word}'`)).join(' ')
    const printed = `${stdout}${stderr}`.trimEnd().replaceAll(process.execPath, 'node').replaceAll(server, 'first-server.mjs')
    return `$ unfold ${typed} -- node first-server.mjs\n${printed}${code === 0 ? '' : `\n(exit code ${code})`}\n`
  }
  const parts = async (...lines: readonly (readonly string[])[]): Promise<string> => {
    const texts: string[] = []
    for (const args of lines) texts.push(await run(...args))
    return texts.join('\n')
  }
  await shows('command-line-list', await parts(['list'], ['identity']))
  await shows('command-line-tool', await parts(['call', 'average', '--help']))
  await shows('command-line-preview', await parts(['preview']))
  await shows(
    'command-line-call',
    await parts(
      ['call', 'write_note', '--text', '012', '--quiet'],
      ['call', 'average', '--of', '1', '--of', '2', '--quiet'],
      ['call', 'average', 'of:=[1, 2, 3]', '--quiet'],
      ['call', 'average', '--args', '{"of": [4, 6]}', '--json', '--quiet'],
    ),
  )
  await shows(
    'command-line-errors',
    await parts(
      ['call', 'average', '--of', 'many', '--quiet'],
      ['call', 'avrage', '--quiet'],
      ['call', 'avrage', '--json', '--quiet'],
      ['identity', '--expect', '550e8400-e29b-41d4-a716-446655440000', '--quiet'],
    ),
  )
})

test('command line: unlisted tools are found and called like any other', async () => {
  await withGateway({ library, kitchen, workbench }, { budgetTokens: 300 }, async ({ url = '' }) => {
    const texts: string[] = []
    for (const args of [
      ['list', url],
      ['search', url, 'find', 'a', 'book', '--limit', '2'],
      ['call', url, 'library__find_books', '--title', 'Library'],
      ['tree', url],
    ]) {
      const { code, stdout, stderr } = await user.unfold([...args, '--quiet'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      texts.push(`$ unfold ${args.join(' ')}\n${stdout.trimEnd()}\n`)
    }
    await shows('command-line-unlisted', texts.join('\n').replaceAll(url, 'http://127.0.0.1:7420/mcp'))
  })
})

test('command line: a folder of plugins is served and called', async () => {
  const plugins = await mkdtemp(join(folder, 'served-'))
  await copyFile(join(root, 'docs/examples/plugin-greetings.mjs'), join(plugins, 'greetings.mjs'))
  const main = join(root, 'packages/cli/dist/main.js')
  const { code, stdout } = await user.unfold(
    ['call', 'greet', '--name', 'Ada', '--quiet', '--', process.execPath, main, 'plugins', 'serve', plugins],
    { cwd: tmpdir() },
  )
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello, Ada!\n' })
})
