import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { until } from '../../client/test/processes.ts'
import { type TestClient, testClient } from '../../server/src/testing/client.ts'
import { createLog } from '../src/base/log.ts'
import { runningGateways } from '../src/run-file.ts'
import { type FromFileOptions, fromFile } from './gateway-file.ts'
import { server } from './upstreams.ts'

/** The server with changeable tools, as a configuration entry. */
export const changing = (more: object = {}): object => ({ ...server('toolbox.mjs'), ...more })

export interface ProxiedRequest {
  readonly token?: string
  readonly method?: string
  readonly headers?: Record<string, string>
}

/** A gateway from a file, on a free port, with all its log lines. */
export async function served(config: object, options: FromFileOptions = {}) {
  const lines: string[] = []
  const log = createLog({ level: 'debug', stream: { write: (line) => lines.push(line) } })
  const remembering = (next: object): object => ({ store: { kind: 'memory' }, ...next })
  const { running, home, file, write, close } = await fromFile(remembering(config), { log, ...options })
  const { gateway, url = '' } = running
  const { origin } = new URL(url)
  const [run] = await runningGateways(home)
  const admin = run?.admin ?? ''
  const ask = (path: string, { token, method = 'GET', headers }: ProxiedRequest = {}): Promise<Response> =>
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
    write: (next: object): Promise<void> => write(remembering(next)),
    /** Sends a request to the admin API and returns the parsed response. */
    async api(path: string, asked: ProxiedRequest = {}): Promise<unknown> {
      const response = await ask(`/api${path}`, { token: admin, ...asked })
      return response.json()
    },
    ready: (name: string): Promise<void> =>
      until(() => gateway.upstreams.get(name)?.state === 'ready' && gateway.upstreams.tools(name).length > 0, `${name} is ready`),
    async connect(
      at = '',
      { era = 'session', token, headers }: { era?: 'session' | 'stateless' } & Pick<ProxiedRequest, 'token' | 'headers'> = {},
    ): Promise<TestClient> {
      const all = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers }
      const transport = new StreamableHTTPClientTransport(new URL(`${url}${at}`), { requestInit: { headers: all } })
      return testClient(transport, { era, listens: false })
    },
    [Symbol.asyncDispose]: () => close({ withinMs: 0 }),
  }
}
