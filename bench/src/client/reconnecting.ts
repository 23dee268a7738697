import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, connect as dial } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import {
  type Connection,
  type ConnectOptions,
  connect,
  fileCache,
  memoryCache,
  type Target,
  type ToolCache,
} from '@unfold-mcp/client'
import { type Contestant, inRounds, inTurns, type Pace, type Timing } from '../list/rounds.ts'
import { referenceSize } from '../list/tools.ts'

const server = fileURLToPath(new URL('servers/tools.js', import.meta.url))

/** Source of the tool list when a client reconnects. */
export const listSources = { full: 'full list', memory: 'cache in memory', file: 'cache on disk' } as const
export type ListSource = keyof typeof listSources

type TransportName = 'HTTP, session' | 'HTTP, 2026-07-28' | 'stdio, session' | 'stdio, 2026-07-28'

/** Time until the tools are available after connecting, and bytes transferred. */
export interface Reconnecting extends Timing {
  readonly transport: TransportName
  readonly listSource: ListSource
  readonly bytes: number
}

const protocols = {
  'HTTP, session': 'session',
  'stdio, session': 'session',
  'HTTP, 2026-07-28': '2026-07-28',
  'stdio, 2026-07-28': '2026-07-28',
} as const

export interface Paces {
  readonly http: Pace
  readonly stdioRounds: number
}

/** Reconnects repeatedly to a server with 1,000 tools, with and without a cached list. */
export async function timeReconnecting({ http: pace, stdioRounds }: Paces): Promise<readonly Reconnecting[]> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-bench-cache-'))
  const http = await startServer()
  try {
    const results: Reconnecting[] = []
    for (const transport of ['HTTP, session', 'HTTP, 2026-07-28'] as const) {
      const target = { url: http.url }
      results.push(
        ...(await timed(transport, {
          target,
          measure: (all) => inRounds(all, pace),
          folder,
          weigh: (caches) => weighHttp(transport, http.port, caches),
        })),
      )
    }
    for (const transport of ['stdio, session', 'stdio, 2026-07-28'] as const) {
      const target = { command: process.execPath, args: [server] }
      results.push(
        ...(await timed(transport, {
          target,
          measure: (all) => inTurns(all, stdioRounds),
          folder,
          weigh: (caches) => weighPipes(transport, target, caches),
        })),
      )
    }
    return results
  } finally {
    await http.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

type Caches = { readonly [M in ListSource]: ToolCache | undefined }

interface Timed {
  readonly target: Target
  readonly measure: (contestants: readonly Contestant[]) => Promise<readonly Timing[]>
  readonly folder: string
  readonly weigh: (caches: Caches) => Promise<{ readonly [M in ListSource]: number }>
}

async function timed(transport: TransportName, { target, measure, folder, weigh }: Timed): Promise<readonly Reconnecting[]> {
  const caches: Caches = {
    full: undefined,
    memory: memoryCache(),
    file: fileCache(join(folder, transport.replaceAll(/\W/gu, '-'))),
  }
  const weights = await weigh(caches)
  const all = Object.keys(listSources) as readonly ListSource[]
  for (const listSource of all) await (await known(transport, target, caches[listSource])).close()
  const contestants = all.map((listSource): Contestant => {
    let last: Connection | undefined
    return {
      name: listSource,
      prepare: async () => last?.close(),
      async run() {
        last = await known(transport, target, caches[listSource])
      },
    }
  })
  const timings = await measure(contestants)
  for (const { prepare } of contestants) await prepare?.()
  return timings.map((timing) => {
    const listSource = timing.name as ListSource
    return { ...timing, name: `${transport}, ${listSources[listSource]}`, transport, listSource, bytes: weights[listSource] }
  })
}

/** Connects and waits for the tools. */
async function known(
  transport: TransportName,
  target: Target,
  cache: ToolCache | undefined,
  more: ConnectOptions = {},
): Promise<Connection> {
  const connection = await connect(target, { protocol: protocols[transport], ...(cache !== undefined && { cache }), ...more })
  const tools = await connection.tools()
  if (tools.length !== referenceSize) throw new Error(`Expected ${referenceSize} tools over ${transport}, got ${tools.length}.`)
  return connection
}

/** Returns the bytes transferred over HTTP, including headers, with warm caches. */
async function weighHttp(
  transport: TransportName,
  port: number,
  caches: Caches,
): Promise<{ readonly [M in ListSource]: number }> {
  let bytes = 0
  const proxy = createServer((client) => {
    const upstream = dial(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const target = { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp` }
  const weigh = async (cache: ToolCache | undefined): Promise<number> => {
    await (await known(transport, target, cache)).close()
    bytes = 0
    await (await known(transport, target, cache)).close()
    return bytes
  }
  try {
    return { full: await weigh(caches.full), memory: await weigh(caches.memory), file: await weigh(caches.file) }
  } finally {
    proxy.close()
  }
}

/** Returns the bytes transferred over pipes, as counted by the server. */
async function weighPipes(
  transport: TransportName,
  target: Target,
  caches: Caches,
): Promise<{ readonly [M in ListSource]: number }> {
  const weigh = async (cache: ToolCache | undefined): Promise<number> => {
    let bytes = 0
    const onStderr = (line: string): void => {
      bytes = Number(/^bytes: (\d+)$/u.exec(line)?.[1] ?? bytes)
    }
    for (let i = 0; i < 2; i++) await (await known(transport, target, cache, { onStderr })).close()
    return bytes
  }
  return { full: await weigh(caches.full), memory: await weigh(caches.memory), file: await weigh(caches.file) }
}

async function startServer(): Promise<{ readonly url: string; readonly port: number; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [server, '--http', '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const lines = createInterface({ input: child.stderr })
  const [line] = (await once(lines, 'line')) as [string]
  const url = line.replace('Serving on ', '')
  return {
    url,
    port: Number(new URL(url).port),
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
