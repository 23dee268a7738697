import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { build, defaultServerConditions } from 'vite'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { home, main, servers } from '../../packages/cli/test/command.ts'
import { verifies } from '../verifies.ts'

// Most tests start processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000 })

let folder = ''
let program = ''

// Not every Node version runs TypeScript, so the server is bundled into one JavaScript file first.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-command-line-'))
  program = join(folder, 'command-line-server.mjs')
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true, resolve: { conditions: ['@unfold-mcp/source', ...defaultServerConditions] } },
    build: {
      ssr: fileURLToPath(new URL('../fixtures/command-line-server.ts', import.meta.url)),
      outDir: folder,
      target: 'node20',
      minify: false,
      rollupOptions: { output: { entryFileNames: 'command-line-server.mjs' } },
    },
  })
}, 300_000)

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

async function listed(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name)
}

const clientIn = (mode: 'legacy' | 'auto') =>
  new Client({ name: 'command-line', version: '1.0.0' }, { versionNegotiation: { mode } })

verifies('R14-2', async () => {
  for (const [args, expected] of [
    [[], ['activate_files', 'deactivate', 'ping']],
    [
      ['--groups', 'files'],
      ['activate_files', 'deactivate', 'read_file', 'ping'],
    ],
    [
      ['--exposure', 'everything'],
      ['read_file', 'ping'],
    ],
  ] as const) {
    const client = clientIn('legacy')
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, ...args], stderr: 'ignore' }))
    expect(await listed(client)).toEqual(expected)
    await client.close()
  }
})

/** Starts the program and waits for the address that it prints. */
async function started(...args: readonly string[]): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /https?:\S+/u.exec(line)?.[0]
    if (url !== undefined) return { child, url }
  }
  throw new Error('The program exited without printing an address.')
}

verifies('R14-3', async () => {
  const { child, url } = await started('--http', '0')
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/u)
  for (const [mode, expected] of [
    ['legacy', ['activate_files', 'deactivate', 'ping']],
    ['auto', ['read_file', 'ping']],
  ] as const) {
    const client = clientIn(mode)
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    expect(await listed(client)).toEqual(expected)
    await client.close()
  }
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  const misspelt = spawn(process.execPath, [program, '--htp'], { stdio: ['ignore', 'ignore', 'pipe'] })
  expect((await once(misspelt, 'exit'))[0]).toBe(1)
})

verifies('P21', async () => {
  await using at = await home()
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(at.folder, 'node_modules'))
  const hintOf = async (served: string): Promise<string | undefined> => {
    const script = join(at.folder, 'main.mjs')
    await writeFile(
      script,
      `import { McpServer } from '@modelcontextprotocol/server'
       import { adopt, defineToolbox, serve } from '@unfold-mcp/server'
       await serve(${served})`,
    )
    const child = spawn(process.execPath, [script, '--http', '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = once(child, 'exit')
    let hint: string | undefined
    for await (const line of createInterface({ input: child.stderr })) {
      hint = /^Connect a client: (.*) http:\S+$/u.exec(line)?.[1]
      if (hint !== undefined) break
    }
    child.kill('SIGTERM')
    await ended
    return hint
  }
  const hint = 'claude mcp add --transport http'
  expect(await hintOf("defineToolbox({ name: 'desk', version: '1.0.0' })")).toBe(`${hint} desk`)
  expect(await hintOf("defineToolbox({ name: '@me/my desk', version: '1.0.0' })")).toBe(`${hint} me-my-desk`)
  // An adopted server keeps its name.
  const adopted = `adopt(() => {
    const server = new McpServer({ name: 'old-desk', version: '1.0.0' })
    server.registerTool('ping', {}, () => ({ content: [] }))
    return server
  })`
  expect(await hintOf(adopted)).toBe(`${hint} old-desk`)
})

/** Lists the tools of the program, started with these environment variables. */
async function listedWith(environment: Record<string, string>, ...args: readonly string[]): Promise<readonly string[]> {
  const client = clientIn('legacy')
  const env = { ...environment, PATH: process.env.PATH ?? '' }
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, ...args], env, stderr: 'ignore' }))
  const names = await listed(client)
  await client.close()
  return names
}

const declared = ['activate_files', 'deactivate', 'ping']

verifies('E01', async () => {
  expect(await listedWith({})).toEqual(declared)
  for (const LAZY_MODE of ['false', '0', 'No', 'OFF', '', ' ']) expect(await listedWith({ LAZY_MODE })).toEqual(declared)
})

verifies('P02', async () => {
  const DECLARED_LAZY = 'true'
  for (const environment of [{}, { LAZY_MODE: '' }, { LAZY_MODE: 'true' }])
    expect(await listedWith({ DECLARED_LAZY, ...environment })).toEqual(['manage_tools'])
  expect(await listedWith({ DECLARED_LAZY, LAZY_MODE: 'false' })).toEqual(declared)
  expect(await listedWith({ DECLARED_LAZY, LAZY_MODE: 'false' }, '--exposure', 'lazy')).toEqual(['manage_tools'])
})

verifies('P16', async () => {
  await using at = await home()
  const app = join(at.folder, 'app')
  await mkdir(join(app, 'dist'), { recursive: true })
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(app, 'node_modules'))
  await writeFile(join(app, 'package.json'), '{ "name": "app", "version": "4.5.6", "type": "module" }')
  // Compiled decorators, because Node does not support the syntax.
  const entry = join(app, 'dist', 'main.js')
  await writeFile(
    entry,
    `import { serve } from '@unfold-mcp/server'
     import { mcpServer } from '@unfold-mcp/server/decorators'
     class Hub {}
     mcpServer({ name: 'hub' })(Hub)
     await serve(new Hub())`,
  )
  const client = clientIn('legacy')
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [entry], stderr: 'ignore' }))
  expect(client.getServerVersion()).toEqual({ name: 'hub', version: '4.5.6' })
  await client.close()
})

verifies('P03', async () => {
  await using at = await home()
  const [command = '', ...args] = servers.desk
  const listedBy = async (exposure: string, environment: Record<string, string>): Promise<readonly string[]> => {
    await writeFile(join(at.folder, 'unfold.json'), JSON.stringify({ mcpServers: { desk: { command, args } }, exposure }))
    const client = clientIn('legacy')
    const env = { ...(at.env as Record<string, string>), ...environment }
    const gateway = { command: process.execPath, args: [main, 'serve', '--stdio'], env, cwd: at.folder }
    await client.connect(new StdioClientTransport({ ...gateway, stderr: 'ignore' }))
    const names = await listed(client)
    await client.close()
    return names
  }
  const lazily = await listedBy('everything', { LAZY_MODE: 'true' })
  expect(lazily).toContain('manage_tools')
  expect(lazily).not.toContain('desk__echo')
  expect(await listedBy('lazy', {})).not.toContain('desk__echo')
  expect(await listedBy('lazy', { LAZY_MODE: 'off' })).toContain('desk__echo')
  expect(await at.unfold(['serve', '--stdio'], { env: { LAZY_MODE: 'maybe' } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('LAZY_MODE is "maybe"'),
  })
})

verifies('L01-1', async () => {
  for (const LAZY_MODE of ['true', '1', 'Yes', 'y', 'ON', ' TRUE '])
    expect(await listedWith({ LAZY_MODE })).toEqual(['manage_tools'])
  expect(await listedWith({ LAZY_MODE: 'true' }, '--exposure', 'everything')).toEqual(['read_file', 'ping'])
  expect(await listedWith({ LAZY_MODE: 'false' }, '--exposure', 'lazy')).toEqual(['manage_tools'])
})

verifies('L01-2', async () => {
  for (const value of ['maybe', 'tru', '2', 'true false', 'null']) {
    const env = { ...process.env, LAZY_MODE: value }
    const child = spawn(process.execPath, [program, '--http', '0'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const output: string[] = []
    child.stderr.on('data', (chunk) => output.push(String(chunk)))
    expect((await once(child, 'close'))[0]).toBe(1)
    expect(output.join('')).toContain(`LAZY_MODE is "${value}". Use true or false`)
  }
})

verifies('S30', async () => {
  for (const [args, meta] of [
    [[], { available_modes: ['logs'], data_counts: { logs: 3 } }],
    [['--no-counts'], undefined],
  ] as const) {
    const client = clientIn('legacy')
    const env = { COUNTING: 'true', PATH: process.env.PATH ?? '' }
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, ...args], env, stderr: 'ignore' }))
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'observe')?._meta).toEqual(meta)
    await client.close()
  }
})
