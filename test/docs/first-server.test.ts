import { spawn } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shownAs } from './transcript.ts'

// Runs the server of the README like its reader does: copied into a folder as JavaScript and started with node.
const root = fileURLToPath(new URL('../../', import.meta.url))
const example = (name: string): string => join(root, 'docs/examples', name)
let folder: string

beforeAll(async () => {
  await mkdir(join(root, 'node_modules/.cache'), { recursive: true })
  folder = await mkdtemp(join(root, 'node_modules/.cache/first-server-'))
  await copyFile(example('first-server.ts'), join(folder, 'first-server.mjs'))
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const modes = { session: 'legacy', stateless: { pin: '2026-07-28' } } as const

async function seenBy(era: keyof typeof modes, transport: Transport): Promise<string> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: modes[era] } })
  await client.connect(transport)
  const names = async (): Promise<string> => (await client.listTools()).tools.map((tool) => tool.name).join(', ')
  const before = await names()
  await client.callTool({ name: 'activate_notes' })
  const after = await names()
  const note = await client.callTool({ name: 'write_note', arguments: { text: 'Buy bread' } })
  expect(note.content).toMatchObject([{ text: expect.stringContaining('Noted.') }])
  await client.close()
  return `fresh list             ${before}\nafter activate_notes   ${after}\n`
}

test('over stdio, as a client’s configuration starts it', async () => {
  const configuration = JSON.parse(await readFile(example('client-stdio.json'), 'utf8'))
  const { command, args } = configuration.mcpServers.desk as { command: string; args: string[] }
  expect(command).toBe('node')
  for (const era of ['session', 'stateless'] as const) {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: args.map((arg) => arg.replace('/path/to', folder)),
    })
    await expect(await seenBy(era, transport)).toMatchFileSnapshot(shownAs(`first-server-${era}`))
  }
})

test('over HTTP, as a client’s configuration reaches it', async () => {
  const configuration = JSON.parse(await readFile(example('client-http.json'), 'utf8'))
  expect(configuration.mcpServers.desk).toEqual({ type: 'http', url: 'http://127.0.0.1:8000/mcp' })
  const server = spawn(process.execPath, [join(folder, 'first-server.mjs'), '--http', '0'])
  const closed = new Promise((resolve) => server.once('exit', resolve))
  const lines: string[] = []
  const printed = createInterface({ input: server.stderr })
  await new Promise<void>((resolve) => {
    printed.on('line', (line) => {
      if (lines.push(line) === 3) resolve()
    })
  })
  const url = lines[0]?.replace('Serving on ', '') ?? ''
  await expect(`${lines.join('\n').replaceAll(new URL(url).host, '127.0.0.1:8000')}\n`).toMatchFileSnapshot(
    shownAs('first-server-http'),
  )
  for (const era of ['session', 'stateless'] as const) {
    await expect(await seenBy(era, new StreamableHTTPClientTransport(new URL(url)))).toMatchFileSnapshot(
      shownAs(`first-server-${era}`),
    )
  }
  server.kill('SIGTERM')
  expect(await closed).toBe(0)
})
