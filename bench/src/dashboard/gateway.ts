import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runningGateways } from '@unfold-mcp/gateway'
import { defineToolbox, type ListeningServer, listen } from '@unfold-mcp/server'
import { freePort } from '../hosts/ports.ts'

/** The published command. */
const program = fileURLToPath(new URL('../../../packages/cli/bundle/main.js', import.meta.url))
const timeoutMs = 120_000
const pollMs = 2

/** One process that plays any number of servers with five tools each. */
export function playServers(): Promise<ListeningServer> {
  let toolbox = defineToolbox({ name: 'area', version: '1.0.0', exposure: 'everything', report: () => undefined })
  for (const verb of ['list', 'read', 'write', 'move', 'delete'])
    toolbox = toolbox.tool(
      `${verb}_items`,
      { description: `Does ${verb} with the items of this area, one or many at a time` },
      () => verb,
    )
  return listen(toolbox, { port: 0, path: '/mcp' })
}

/** A gateway in its own process. */
export interface Started extends AsyncDisposable {
  readonly pid: number
  readonly url: string
  /** From the start of the process until a client gets the tools of all servers. */
  readonly startMs: number
  admin<T>(method: string, path: string): Promise<T>
}

interface StartOptions {
  readonly servers: number
  readonly played: ListeningServer
  readonly hasDashboard?: boolean
}

export async function startGateway({ servers, played, hasDashboard = true }: StartOptions): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-bench-dashboard-'))
  const file = join(folder, 'unfold.json')
  const names = Array.from({ length: servers }, (_, index) => `area${String(index).padStart(3, '0')}`)
  await writeFile(
    file,
    JSON.stringify({
      mcpServers: Object.fromEntries(names.map((name) => [name, { type: 'http', url: `${played.url}?of=${name}` }])),
      exposure: 'everything',
      limits: { callsPerMinute: 1_000_000 },
      store: { kind: 'memory' },
      listen: { dashboard: hasDashboard },
    }),
  )
  const port = await freePort()
  const begin = performance.now()
  const child = spawn(process.execPath, [program, 'serve', file, '--http', String(port), '--log-level', 'error'], {
    cwd: folder,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: folder, UNFOLD_HOME: folder },
  })
  const ended = once(child, 'exit')
  const { pid = 0 } = child
  const origin = `http://127.0.0.1:${port}`
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  try {
    let token = ''
    const ask = (method: string, path: string): Promise<Response> =>
      fetch(`${origin}/api${path}`, { method, headers: { authorization: `Bearer ${token}` } })
    for (const until = begin + timeoutMs; ; ) {
      token = (await runningGateways(folder))[0]?.admin ?? ''
      const tools = token === '' ? [] : await ask('GET', '/tools').then((response) => response.json())
      if (Array.isArray(tools) && tools.length === 5 * servers) break
      if (performance.now() > until || child.exitCode !== null) throw new Error('The gateway did not start.')
      await pause(pollMs)
    }
    return {
      pid,
      url: `${origin}/mcp`,
      startMs: performance.now() - begin,
      async admin<T>(method: string, path: string) {
        return (await (await ask(method, path)).json()) as T
      },
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
