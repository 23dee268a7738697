import { setTimeout as pause } from 'node:timers/promises'
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Era } from '../tool/context.ts'

/** A client of the MCP SDK with helpers for tests. */
export interface TestClient extends AsyncDisposable {
  readonly client: Client
  readonly transport: Transport
  /** Number of `notifications/tools/list_changed` received. */
  readonly listChanges: number
  toolNames(): Promise<readonly string[]>
  tools(): Promise<readonly Tool[]>
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>
  /** Resolves when `listChanges` reaches `count`. */
  waitForListChanges(count: number): Promise<void>
  /** Waits for notifications that are already under way. */
  settle(): Promise<void>
  close(): Promise<void>
}

const notificationTimeoutMs = 30_000
const settleMs = 60

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
  let listChanges = 0
  let waiters: { count: number; resolve: () => void }[] = []
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    listChanges++
    for (const { count, resolve } of waiters) if (listChanges >= count) resolve()
    waiters = waiters.filter(({ count }) => listChanges < count)
  })
  await client.connect(transport)
  const canListen = listens && client.getServerCapabilities()?.tools?.listChanged === true
  if (canListen && era === 'stateless') await client.listen({ toolsListChanged: true })
  // A session-era client opens its GET stream after connecting, without a signal when it is open.
  if (canListen && era === 'session') await pause(settleMs)
  const tools = async (): Promise<readonly Tool[]> => (await client.listTools(undefined, { cacheMode: 'bypass' })).tools
  const close = async (): Promise<void> => {
    // close() alone leaves the session on the server until its idle timeout.
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => undefined)
    await client.close()
  }
  return {
    client,
    transport,
    get listChanges() {
      return listChanges
    },
    tools,
    toolNames: async () => (await tools()).map((tool) => tool.name),
    async call(tool, args) {
      return client.callTool({ name: tool, ...(args !== undefined && { arguments: args }) })
    },
    async waitForListChanges(count) {
      if (listChanges >= count) return
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`Received ${listChanges} of ${count} list changes within ${notificationTimeoutMs} ms.`)),
          notificationTimeoutMs,
        )
        waiters.push({
          count,
          resolve() {
            clearTimeout(timer)
            resolve()
          },
        })
      })
    },
    settle: () => pause(settleMs),
    close,
    [Symbol.asyncDispose]: close,
  }
}
