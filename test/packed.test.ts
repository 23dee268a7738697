import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'

const server = `import { defineToolbox, serve } from '@unfold-mcp/server'
import { mcpServer } from '@unfold-mcp/server/decorators'
import { fileStore } from '@unfold-mcp/server/stores/file'
import { z } from 'zod'

const hub = defineToolbox({
  name: 'hub',
  version: '1.0.0',
  groups: { words: { about: 'Words' } },
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

const hub = defineToolbox({ name: 'hub', version: '1.0.0', groups: { words: { about: 'Words' } } })
hub.tool('shout', { group: 'words', input: z.object({ text: z.string() }) }, ({ text }, ctx: ToolContext<'words'>) => {
  const length: number = text.length
  return \`\${length} \${ctx.scope}\`
})
// @ts-expect-error no such group
hub.tool('whisper', { group: 'wrods' }, () => '')
export const context = testContext(hub)
`

describe('the packages, packed and installed in an empty folder', () => {
  let folder = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unfold-packed-'))
    await run(
      npm,
      ['pack', '--silent', '--workspace', 'packages/core', '--workspace', 'packages/server', '--pack-destination', folder],
      { cwd: root },
    )
    const archives = (await readdir(folder)).filter((name) => name.endsWith('.tgz')).map((name) => `./${name}`)
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }))
    const wanted = [...archives, 'zod@4.6.7', '@modelcontextprotocol/client@2.4.0', 'typescript@7.0.2', '@types/node@20.19.43']
    await run(npm, ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...wanted], { cwd: folder })
    await Promise.all([
      writeFile(join(folder, 'server.mjs'), server),
      writeFile(join(folder, 'client.mjs'), client),
      writeFile(join(folder, 'typed.ts'), typed),
    ])
  }, 240_000)

  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

  test('serve a client', { timeout: 60_000 }, async () => {
    const { stdout } = await run(process.execPath, ['client.mjs'], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual({
      before: ['activate_words', 'deactivate'],
      after: ['activate_words', 'deactivate', 'shout'],
      content: [{ type: 'text', text: 'HELLO' }],
    })
  })

  test('bring their types', { timeout: 60_000 }, async () => {
    const options = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--types',
      'node',
    ]
    const problems = await run(process.execPath, ['node_modules/typescript/bin/tsc', ...options, 'typed.ts'], {
      cwd: folder,
    }).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    )
    expect(problems).toBe('')
  })
})
