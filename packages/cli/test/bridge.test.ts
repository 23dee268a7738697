import { readdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { type Connection, connect, type ProtocolChoice } from '@unfold-mcp/client'
import { createToken } from '@unfold-mcp/gateway/config'
import { expect, test, vi } from 'vitest'
import { serverFile } from '../../../test/bundled-servers.ts'
import { until } from '../../client/test/processes.ts'
import { type Home, home, main, processesWith, servers } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const file = serverFile(new URL('servers/shared.mjs', import.meta.url))
const shared = (mark: string) => ({ command: process.execPath, args: [`--title=${mark}`, file] })
const markOf = (name: string): string => `bridge-${name}-${process.pid}-${Date.now()}`
const timeoutMs = 120_000

/** A client that starts `unfold serve --stdio`, like hosts do. */
function overStdio(at: Home, args: readonly string[] = [], protocol: ProtocolChoice = 'session'): Promise<Connection> {
  const env = Object.fromEntries(Object.entries(at.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  const target = { command: process.execPath, args: [main, 'serve', join(at.folder, 'unfold.json'), '--stdio', ...args], env }
  return connect(target, {
    protocol,
    timeoutMs,
    elicit: async () => ({ action: 'accept', content: { name: protocol } }),
  })
}

const textOf = async (connection: Connection, tool: string): Promise<string> => {
  const { content } = await connection.call(tool)
  const [block] = content
  return block?.type === 'text' ? block.text : ''
}

test('stdio clients of both eras and an HTTP client share one server process', async () => {
  await using at = await home()
  const mark = markOf('share')
  await using gateway = await startGatewayProcess(at, { mcpServers: { shared: shared(mark) }, reload: 'always' })
  await using first = await overStdio(at, ['--host', 'codex'])
  await using second = await overStdio(at, [], '2026-07-28')
  await using third = await connect({ url: gateway.url })
  const pids = await Promise.all([first, second, third].map((connection) => textOf(connection, 'shared__pid')))
  expect(new Set(pids).size).toBe(1)
  expect(await processesWith(mark)).toEqual([Number(pids[0])])
  const { clients } = JSON.parse((await at.unfold(['status', '--json'])).stdout)
  expect(clients.filter(({ transport }: { readonly transport?: string }) => transport === 'stdio')).toMatchObject([
    { era: 'session', name: 'unfold' },
    { era: 'stateless', name: 'unfold' },
  ])

  expect((await at.unfold(['status'])).stdout).toMatch(/unfold 0\.1\.0 +1 session +over stdio/u)

  // Requests of the server reach the calling client, and cancellations of the client reach the server.
  expect(await textOf(first, 'shared__ask')).toBe('accept session')
  expect(await textOf(second, 'shared__ask')).toBe('accept 2026-07-28')
  for (const connection of [first, second]) {
    const path = join(at.folder, `${connection.era}.txt`)
    const stop = new AbortController()
    const waiting = connection.call('shared__wait', { file: path }, { signal: stop.signal })
    waiting.catch(() => undefined)
    const state = (): Promise<string> => readFile(path, 'utf8').catch(() => '')
    await until(async () => (await state()) === 'waiting', 'the call is under way', timeoutMs)
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ reason: 'cancelled' })
    await until(async () => (await state()) === 'cancelled', 'the server receives the cancellation', timeoutMs)
  }

  // A client that disconnects is removed.
  const left = await overStdio(at)
  await left.tools()
  await left.close()
  const stdioClients = async (): Promise<number> => {
    const status = JSON.parse((await at.unfold(['status', '--json'])).stdout)
    return status.clients.filter(({ transport }: { readonly transport?: string }) => transport === 'stdio').length
  }
  await until(async () => (await stdioClients()) === 2, 'the third client is gone', timeoutMs)

  // Changes of the gateway reach both.
  const mcpServers = { shared: shared(mark), more: shared(mark) }
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify({ mcpServers, reload: 'always' }))
  for (const connection of [first, second]) {
    const hasMore = async (): Promise<boolean> => (await connection.tools()).some(({ name }) => name === 'more__pid')
    await until(hasMore, 'the client is notified of more tools', timeoutMs)
  }
})

test('a client survives a restart of the gateway on another port, graceful or not', async () => {
  await using at = await home()
  const mark = markOf('restart')
  let gateway = await startGatewayProcess(at, { mcpServers: { shared: shared(mark) } })
  try {
    await using session = await overStdio(at)
    await using stateless = await overStdio(at, [], '2026-07-28')
    const both = [session, stateless]
    const before = await textOf(session, 'shared__pid')
    const ended: string[] = []
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { pid } = gateway
      const path = join(at.folder, `${signal}.txt`)
      const running = session.call('shared__wait', { file: path }, { timeoutMs })
      running.catch(() => undefined)
      await until(async () => (await readFile(path, 'utf8').catch(() => '')) === 'waiting', 'a call is under way', timeoutMs)
      if (signal === 'SIGKILL') await gateway.end(signal)
      else {
        // A graceful shutdown would wait for the running call.
        void gateway.end(signal)
        const readiness = new URL('/readyz', gateway.url)
        const isReady = (): Promise<boolean> =>
          fetch(readiness).then(
            ({ ok }) => ok,
            () => false,
          )
        await until(async () => !(await isReady()), 'the gateway is shutting down', timeoutMs)
      }
      const next = startGatewayProcess(at, undefined)
      // A call while there is no gateway waits for the next one.
      const [later] = await Promise.all([Promise.all(both.map((connection) => textOf(connection, 'shared__pid'))), next])
      gateway = await next
      expect(gateway.pid).not.toBe(pid)
      expect(new Set(later).size).toBe(1)
      expect(later[0]).not.toBe(before)
      ended.push(await running.then(String, (error: Error) => error.message))
    }
    // A graceful shutdown notifies waiting clients; a killed process cannot.
    expect(ended).toEqual([expect.any(String), expect.stringContaining('The gateway stopped while this request was running.')])
  } finally {
    await gateway[Symbol.asyncDispose]()
  }
})

test('a gateway that requires tokens serves the stdio clients of its own user with their profile, and rejects others', async () => {
  await using at = await home()
  const { record } = createToken('other')
  const config = {
    mcpServers: { shared: shared(markOf('tokens')), desk: { command: servers.desk[0], args: servers.desk.slice(1) } },
    tokens: [record],
    profiles: { small: { servers: ['shared'] } },
  }
  await using gateway = await startGatewayProcess(at, config)
  await using all = await overStdio(at)
  await using small = await overStdio(at, ['--profile', 'small'])
  const names = async (connection: Connection): Promise<readonly string[]> =>
    [...new Set((await connection.tools()).map(({ name }) => name.split('__', 1)[0] ?? ''))].sort()
  expect(await names(all)).toEqual(expect.arrayContaining(['desk', 'shared']))
  expect(await names(small)).not.toContain('desk')
  expect(await at.unfold(['serve', 'unfold.json', '--stdio', '--profile', 'none'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown profile "none".'),
  })
  // Neither a token of the configuration nor the admin token is accepted instead.
  const [run = ''] = await readdir(join(at.folder, 'unfold', 'run'))
  const { admin, bridge } = JSON.parse(await readFile(join(at.folder, 'unfold', 'run', run), 'utf8'))
  expect(await connectStatus(gateway.url, admin)).toBe(401)
  expect(await connectStatus(gateway.url, bridge)).toBe(200)
  expect((await fetch(gateway.url, { headers: { authorization: `Bearer ${bridge}` } })).status).toBe(401)
  expect((await fetch(new URL('/api/status', gateway.url), { headers: { authorization: `Bearer ${bridge}` } })).status).toBe(401)
})

async function connectStatus(url: string, token: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const asking = request({
      method: 'CONNECT',
      host: hostname,
      port,
      path: 'unfold-stdio:0',
      headers: { authorization: `Bearer ${token}` },
    })
    asking.once('error', reject)
    asking.once('connect', ({ statusCode }, socket) => {
      socket.destroy()
      resolve(statusCode)
    })
    asking.end()
  })
}

test('without a running gateway, or with --standalone, the process serves by itself and prints so', async () => {
  await using at = await home()
  const mark = markOf('alone')
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify({ mcpServers: { shared: shared(mark) } }))
  const alone = await at.unfold(['serve', 'unfold.json', '--stdio'])
  expect(alone.stderr).toContain('No gateway is running with')
  await using _ = await startGatewayProcess(at, undefined)
  await using own = await overStdio(at, ['--standalone'])
  await textOf(own, 'shared__pid')
  expect(await processesWith(mark)).toHaveLength(2)
  const through = await at.unfold(['serve', 'unfold.json', '--stdio'])
  expect(through).toMatchObject({ code: 0, stderr: expect.stringContaining('Using the gateway at http://127.0.0.1:') })
  expect(await at.unfold(['serve', '--standalone'])).toMatchObject({ code: 2 })
})
