import { type TestClient, type TestContext, testContext, testServer } from '@unfold-mcp/server/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agree, anyAction, createSystem, eras, type Peer } from './agreement.ts'

const inProcess = (context: TestContext): Peer => ({
  get notifications() {
    return context.listChanges
  },
  tools: async () => context.tools(),
  call: (name, args) => context.call(name, args),
  async settled(notifications) {
    // Timers of equal length fire in the order they were set, so the server's timers have fired before this one.
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(context.listChanges).toBe(notifications)
  },
  close: () => context.close(),
})

test('after any actions of several clients, lists and notifications match the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAction, { maxLength: 30, size: 'max' }), async (actions) => {
      const system = createSystem()
      await agree(actions, system, async (index, principal) => {
        const context = await testContext(system.toolbox, { era: eras[index] ?? 'session', principal: { id: principal } })
        return { peer: inProcess(context), scope: context.scope }
      })
    }),
    { numRuns: 300 },
  )
}, 300_000)

const connected = (connection: TestClient): Peer => ({
  get notifications() {
    return connection.listChanges
  },
  tools: () => connection.tools(),
  call: (name, args) => connection.call(name, args),
  async settled(notifications) {
    await connection.waitForListChanges(notifications)
    expect(connection.listChanges).toBe(notifications)
  },
  close: () => connection.close(),
})

test('lists and notifications match the model over HTTP', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAction, { maxLength: 20, size: 'max' }), async (actions) => {
      const system = createSystem()
      await using sessionServer = await testServer(system.toolbox, { transport: 'http', era: 'session' })
      await using statelessServer = await testServer(system.toolbox, { transport: 'http', era: 'stateless' })
      await agree(actions, system, async (index, principal) => {
        const server = eras[index] === 'stateless' ? statelessServer : sessionServer
        const connection = await server.connect({ principal: { id: principal } })
        const { sessionId } = connection.transport
        return { peer: connected(connection), scope: sessionId === undefined ? undefined : `session:${sessionId}` }
      })
    }),
    {
      numRuns: 25,
      // A disconnected client is not among the connected clients.
      examples: [
        [
          [
            { kind: 'reconnect', client: 0 },
            { kind: 'activate', client: 1, group: 'archive' },
            { kind: 'activate', client: 0, group: 'archive' },
            { kind: 'activate for', whom: 'all', client: 0, group: 'bucket' },
          ],
        ],
      ],
    },
  )
}, 300_000)
