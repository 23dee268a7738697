import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whileServing } from './serving.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const [npm, npxCommand] = process.platform === 'win32' ? ['npm.cmd', 'npx.cmd'] : ['npm', 'npx']

const server = `import { defineToolbox, serve } from '@unfold-mcp/server'
import { mcpServer } from '@unfold-mcp/server/decorators'
import { fileStore } from '@unfold-mcp/server/stores/file'
import { z } from 'zod'

const hub = defineToolbox({
  name: 'hub',
  version: '1.0.0',
  groups: { words: { description: 'Words' } },
  store: fileStore('activations'),
})
hub.tool('shout', { group: 'words', input: z.object({ text: z.string() }) }, ({ text }) => text.toUpperCase())
if (typeof mcpServer !== 'function') throw new Error('no decorators')
await serve(hub)
`

const client = `import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const client = new Client({ name: 'client', version: '1' })
await client.connect(new StdioClientTransport({ command: process.execPath, args: ['server.mjs'] }))
const names = async () => (await client.listTools()).tools.map((tool) => tool.name)
const before = await names()
await client.callTool({ name: 'activate_words' })
const { content } = await client.callTool({ name: 'shout', arguments: { text: 'hello' } })
console.log(JSON.stringify({ before, after: await names(), content }))
await client.close()
`

const typed = `import { defineToolbox, type ToolContext } from '@unfold-mcp/server'
import { testContext } from '@unfold-mcp/server/testing'
import { z } from 'zod'

const hub = defineToolbox({ name: 'hub', version: '1.0.0', groups: { words: { description: 'Words' } } })
hub.tool('shout', { group: 'words', input: z.object({ text: z.string() }) }, ({ text }, ctx: ToolContext<'words'>) => {
  const length: number = text.length
  return \`\${length} \${ctx.scope}\`
})
// @ts-expect-error no such group
hub.tool('whisper', { group: 'wrods' }, () => '')
export const context = testContext(hub)
`

describe('the packed packages, installed in an empty folder', () => {
  let folder = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unfold-packed-'))
    await run(process.execPath, [join(root, 'scripts/release/pack.mjs'), folder])
    const archives = (await readdir(folder)).filter((name) => name.endsWith('.tgz')).map((name) => `./${name}`)
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }))
    const wanted = [...archives, 'zod@4.6.7', '@modelcontextprotocol/client@2.4.0']
    await run(npm, ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...wanted], { cwd: folder })
    await Promise.all([
      writeFile(join(folder, 'server.mjs'), server),
      writeFile(join(folder, 'client.mjs'), client),
      writeFile(join(folder, 'typed.ts'), typed),
    ])
  }, 300_000)

  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

  test('serve a client', { timeout: 300_000 }, async () => {
    const { stdout } = await run(process.execPath, ['client.mjs'], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual({
      before: ['activate_words', 'deactivate'],
      after: ['activate_words', 'deactivate', 'shout'],
      content: [{ type: 'text', text: 'HELLO' }],
    })
  })

  test('include their types', { timeout: 300_000 }, async () => {
    const options = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--typeRoots',
      join(root, 'node_modules/@types'),
      '--types',
      'node',
    ]
    // The compiler of the repository: installing it costs more than running it.
    const problems = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'typed.ts'], {
      cwd: folder,
    }).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    )
    expect(problems).toBe('')
  })

  describe('with npx', () => {
    const npx = (...args: readonly string[]) => run(npxCommand, args, { cwd: folder, env: environment() })
    const environment = () => ({
      ...process.env,
      HOME: folder,
      UNFOLD_HOME: join(folder, 'home'),
      XDG_CONFIG_HOME: folder,
      // npx fails instead of downloading a package that is not installed here.
      npm_config_yes: 'false',
    })

    test('npx finds the command by its name and by its package name', { timeout: 300_000 }, async () => {
      const { version } = JSON.parse(await readFile(join(root, 'packages/cli/package.json'), 'utf8')) as { version: string }
      expect((await npx('unfold', '--version')).stdout.trim()).toBe(version)
      expect((await npx('@unfold-mcp/cli', '--help')).stdout).toContain('Usage: unfold <command>')
      expect((await npx('@unfold-mcp/browser', '--version')).stdout).toContain(version)
    })

    test('the gateway serves a stdio server, and a call reaches it', { timeout: 300_000 }, async () => {
      await npx('unfold', 'add', 'hub', '--yes', '--config', 'unfold.json', '--', process.execPath, 'server.mjs')
      const unfold = join(folder, 'node_modules/@unfold-mcp/cli/bundle/main.js')
      const serve = [process.execPath, unfold, 'serve', 'unfold.json', '--http', '0', '--json']
      await whileServing(serve, { cwd: folder, env: environment() }, async (url) => {
        expect((await npx('unfold', 'call', url, 'hub__shout', '--text', 'hello')).stdout.trim()).toBe('HELLO')
      })
    })
  })
})
