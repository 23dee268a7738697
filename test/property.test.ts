import { type TestClient, type TestContext, testContext, testServer } from '@unfold-mcp/server/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { action, agree, eras, type Peer, system } from './agreement.ts'

const inProcess = (context: TestContext): Peer => ({
  get notices() {
    return context.listChanges
  },
  tools: async () => context.tools(),
  call: (name, args) => context.call(name, args),
  async settled(notices) {
    // Timers of equal length fire in the order they were set, so the server's timers have fired before this one.
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(context.listChanges).toBe(notices)
  },
  close: () => context.close(),
})

test('after any actions of several clients, lists and notifications match the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 30, size: 'max' }), async (actions) => {
      const made = system()
      await agree(actions, made, async (index, principal) => {
        const context = await testContext(made.toolbox, { era: eras[index] ?? 'session', principal: { id: principal } })
        return { peer: inProcess(context), scope: context.scope }
      })
    }),
    { numRuns: 300 },
  )
}, 60_000)

const connected = (connection: TestClient): Peer => ({
  get notices() {
    return connection.listChanges
  },
  tools: () => connection.tools(),
  call: (name, args) => connection.call(name, args),
  async settled(notices) {
    await connection.waitForListChanges(notices)
    expect(connection.listChanges).toBe(notices)
  },
  close: () => connection.close(),
})

test('lists and notifications match the model over HTTP', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 20, size: 'max' }), async (actions) => {
      const made = system()
      await using inSessions = await testServer(made.toolbox, { transport: 'http', era: 'session' })
      await using statelessly = await testServer(made.toolbox, { transport: 'http', era: 'stateless' })
      await agree(actions, made, async (index, principal) => {
        const server = eras[index] === 'stateless' ? statelessly : inSessions
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
}, 60_000)
