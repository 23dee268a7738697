import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Era } from '../tool/context.ts'

/** A real client of the SDK, with what a scenario asks of one. */
export interface TestClient extends AsyncDisposable {
  readonly client: Client
  readonly transport: Transport
  /** How often it was told that its list changed. */
  readonly notices: number
  toolNames(): Promise<readonly string[]>
  tools(): Promise<readonly Tool[]>
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>
  /** Waits until it was told `count` times in all. */
  told(count: number): Promise<void>
  /** Waits until anything that is on its way has arrived. */
  quiet(): Promise<void>
  close(): Promise<void>
}

const patienceMs = 5_000
const quietMs = 60

/** Connects a client of the SDK in this era. */
export async function testClient(
  transport: Transport,
  { era, listens, name = 'test-client' }: { era: Era; listens: boolean; name?: string },
): Promise<TestClient> {
  const client = new Client(
    { name, version: '1.0.0' },
    {
      versionNegotiation: { mode: era === 'session' ? 'legacy' : { pin: '2026-07-28' } },
      capabilities: { elicitation: { form: {} } },
    },
  )
  let notices = 0
  let waiting: { count: number; resolve: () => void }[] = []
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    notices++
    for (const { count, resolve } of waiting) if (notices >= count) resolve()
    waiting = waiting.filter(({ count }) => notices < count)
  })
  await client.connect(transport)
  const canListen = listens && client.getServerCapabilities()?.tools?.listChanged === true
  if (canListen && era === 'stateless') await client.listen({ toolsListChanged: true })
  // A session-era client opens its stream after connecting, without saying when it stands.
  if (canListen && era === 'session') await pause(quietMs)
  const tools = async (): Promise<readonly Tool[]> => (await client.listTools(undefined, { cacheMode: 'bypass' })).tools
  const close = async (): Promise<void> => {
    // Closing alone leaves the session open until it was idle for long, and who left would still count as connected.
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => undefined)
    await client.close()
  }
  return {
    client,
    transport,
    get notices() {
      return notices
    },
    tools,
    toolNames: async () => (await tools()).map((tool) => tool.name),
    async call(tool, args) {
      return client.callTool({ name: tool, ...(args !== undefined && { arguments: args }) })
    },
    async told(count) {
      if (notices >= count) return
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`Told ${notices} times of ${count} within ${patienceMs} ms.`)), patienceMs)
        waiting.push({
          count,
          resolve() {
            clearTimeout(late)
            resolve()
          },
        })
      })
    },
    quiet: () => pause(quietMs),
    close,
    [Symbol.asyncDispose]: close,
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
