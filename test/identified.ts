import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, type ConnectOptions, connect, type Target, type Tool } from '@unfold-mcp/client'
import { defineToolbox, listen } from '@unfold-mcp/server'
import type { TestTransport } from '@unfold-mcp/server/testing'
import { tap } from '../packages/client/test/counting-proxy.ts'
import { serverFile } from './bundled-servers.ts'

/** A server with replaceable tools that counts its requests on the wire. */
export interface IdentifiedServer extends AsyncDisposable {
  connect(options?: ConnectOptions): Promise<Connection>
  /** Replaces the tools. On stdio, the next process of the same command serves them. */
  serve(tools: readonly Tool[]): Promise<void>
  /** Returns the total number of requests with this method. */
  count(method: string): number
}

/** Serves these tools; each echoes its arguments. */
export function identifiedServer(testTransport: TestTransport, tools: readonly Tool[]): Promise<IdentifiedServer> {
  return testTransport.transport === 'stdio' ? overPipes(testTransport, tools) : overHttp(testTransport, tools)
}

/** Returns the command after `--` that starts a server with these tools. */
export async function serverCommand(folder: string, tools: readonly Tool[]): Promise<readonly string[]> {
  const file = join(folder, 'tools.json')
  await writeFile(file, JSON.stringify(tools))
  return [process.execPath, serverFile(new URL('fixtures/tool-file-server.mjs', import.meta.url)), file]
}

const protocolOf = ({ era }: TestTransport) => (era === 'session' ? 'session' : '2026-07-28')

async function overPipes(testTransport: TestTransport, tools: readonly Tool[]): Promise<IdentifiedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-identity-'))
  const [command = '', ...args] = await serverCommand(folder, tools)
  const lines: string[] = []
  const target: Target = { command, args }
  const onStderr = (line: string): void => void lines.push(line)
  return {
    connect: (options) => connect(target, { protocol: protocolOf(testTransport), onStderr, ...options }),
    async serve(next) {
      await serverCommand(folder, next)
    },
    count: (method) => lines.filter((line) => line === `wire: ${method}`).length,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  }
}

async function overHttp(testTransport: TestTransport, tools: readonly Tool[]): Promise<IdentifiedServer> {
  let listening = await listen(toolboxOf(tools), { port: 0 })
  const wire = await tap(portOf(listening.url))
  return {
    connect: (options) => connect({ url: wire.url }, { protocol: protocolOf(testTransport), ...options }),
    async serve(next) {
      const before = listening
      listening = await listen(toolboxOf(next), { port: 0 })
      wire.leadTo(portOf(listening.url))
      wire.cut()
      await before.close()
    },
    count: (method) => wire.count(method),
    async [Symbol.asyncDispose]() {
      await wire[Symbol.asyncDispose]()
      await listening.close()
    },
  }
}

const portOf = (url: string): number => Number(new URL(url).port)

function toolboxOf(tools: readonly Tool[]): object {
  const toolbox = defineToolbox({ name: 'files', version: '1.0.0' })
  for (const { name, description = '', inputSchema } of tools)
    toolbox.tool(name, { description, inputSchema }, (args: unknown) => JSON.stringify(args))
  return toolbox
}
