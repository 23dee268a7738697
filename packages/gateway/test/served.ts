import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { until } from '../../client/test/processes.ts'
import { type TestClient, testClient } from '../../server/src/testing/client.ts'
import { createLog } from '../src/log.ts'
import { runningGateways } from '../src/run-file.ts'
import { type StartOptions, startGateway } from '../src/start.ts'
import { server } from './upstreams.ts'

/** The server whose tools can be changed, as the configuration names it. */
export const changing = (more: object = {}): object => ({ ...server('toolbox.mjs'), ...more })

export interface Asked {
  readonly token?: string
  readonly method?: string
  readonly headers?: Record<string, string>
}

/** A gateway from a file, on a port of its own, with all that it wrote to its log. */
export async function served(config: object, options: Partial<StartOptions> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'unfold-edge-'))
  const file = join(home, 'unfold.json')
  const lines: string[] = []
  const write = (next: object): Promise<void> => writeFile(file, JSON.stringify({ store: { kind: 'memory' }, ...next }))
  const remove = (): Promise<void> => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  await write(config)
  const log = createLog({ level: 'debug', stream: { write: (line) => lines.push(line) } })
  const running = await startGateway({ file, environment: {}, home, log, port: 0, ...options }).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  const { gateway, url = '' } = running
  const { origin } = new URL(url)
  const [run] = await runningGateways(home)
  const admin = run?.admin ?? ''
  const ask = (path: string, { token, method = 'GET', headers }: Asked = {}): Promise<Response> =>
    fetch(`${origin}${path}`, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    })
  return {
    running,
    gateway,
    home,
    file,
    lines,
    url,
    origin,
    admin,
    ask,
    write,
    /** Asks the administration; the answer is read. */
    async api(path: string, asked: Asked = {}): Promise<unknown> {
      const response = await ask(`/api${path}`, { token: admin, ...asked })
      return response.json()
    },
    ready: (name: string): Promise<void> =>
      until(() => gateway.upstreams.get(name)?.state === 'ready' && gateway.upstreams.tools(name).length > 0, `${name} is ready`),
    async connect(
      at = '',
      { era = 'session', token, headers }: { era?: 'session' | 'stateless' } & Pick<Asked, 'token' | 'headers'> = {},
    ): Promise<TestClient> {
      const all = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers }
      const transport = new StreamableHTTPClientTransport(new URL(`${url}${at}`), { requestInit: { headers: all } })
      return testClient(transport, { era, listens: false })
    },
    async [Symbol.asyncDispose]() {
      await running.close({ withinMs: 0 })
      await remove()
    },
  }
}
