import { createMcpHandler, InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { serveStdio as serveSdk } from '@modelcontextprotocol/server/stdio'
import { createHandler, serveStdio } from '@unfold-mcp/server'
import { LocalClient } from './local.ts'
import { inRounds, type Pace, type Timing } from './rounds.ts'
import { lowLevelServer, mcpServer } from './sdk.ts'
import { callOf, groupsOf, referenceSize, toolsOf } from './tools.ts'
import { toolboxOf } from './unfold.ts'
import { Walk } from './walk.ts'
import { initializeOf, type Message, requestOf } from './wire.ts'

const all = `/mcp?groups=${groupsOf(referenceSize).join()}`

export const localNames = {
  sdk: 'SDK Server, 2026-07-28',
  session: 'Unfold, session',
  stateless: 'Unfold, 2026-07-28',
  view: 'Unfold, 2026-07-28, all groups in the address',
  unseen: 'Unfold, 2026-07-28, groups never asked for before',
  both: 'Unfold, activation and list',
  activation: 'Unfold, the activation alone',
  list: 'Unfold, the list alone',
  sdkServer: 'SDK Server',
  sdkMcp: 'SDK McpServer',
  plain: 'Unfold, no groups',
} as const

/** Measures an unchanged list, from parsed request to serialized response, without a socket. */
export async function timeCachedList(pace: Pace): Promise<readonly Timing[]> {
  await using plain = createHandler(toolboxOf(referenceSize, 'plain'))
  await using grouped = createHandler(toolboxOf(referenceSize, 'grouped'))
  const sdk = createMcpHandler(lowLevelServer(toolsOf(referenceSize)), { legacy: 'reject' })
  const client = new LocalClient(plain)
  const groupedClient = new LocalClient(grouped)
  const session = requestOf('session', 'tools/list', { path: '/mcp', session: await client.initialize('/mcp') })
  const stateless = requestOf('stateless', 'tools/list', { path: '/mcp' })
  const view = requestOf('stateless', 'tools/list', { path: all })
  return await inRounds(
    [
      { name: localNames.sdk, run: async () => (await sdk.fetch(postOf(stateless))).arrayBuffer() },
      { name: localNames.session, run: () => client.send(session) },
      { name: localNames.stateless, run: () => client.send(stateless) },
      { name: localNames.view, run: () => groupedClient.send(view) },
    ],
    pace,
  )
}

/** Measures a list that is not cached because a group was activated or deactivated: with and without that call. */
export async function timeChangedList(pace: Pace): Promise<readonly Timing[]> {
  await using grouped = createHandler(toolboxOf(referenceSize, 'grouped'))
  const client = new LocalClient(grouped)
  const session = await client.initialize(all)
  const walk = new Walk(groupsOf(referenceSize))
  const elsewhere = new Walk(groupsOf(referenceSize))
  const unseen = (): Message => {
    elsewhere.next()
    return requestOf('stateless', 'tools/list', { path: `/mcp?groups=${elsewhere.open().join()}` })
  }
  const change = () => client.send(requestOf('session', 'tools/call', { path: all, session, call: walk.next() }))
  const list = requestOf('session', 'tools/list', { path: all, session })
  return await inRounds(
    [
      { name: localNames.unseen, run: () => client.send(unseen()) },
      { name: localNames.both, run: () => change().then(() => client.send(list)) },
      { name: localNames.activation, run: change },
      { name: localNames.list, prepare: change, run: () => client.send(list) },
    ],
    pace,
  )
}

/** Measures a call over an in-memory transport, which is the cost of the server itself. */
export async function timeCall(pace: Pace): Promise<readonly Timing[]> {
  const tools = toolsOf(referenceSize)
  const lines = await Promise.all([
    connected(localNames.sdkServer, (transport) => serveSdk(lowLevelServer(tools), { transport })),
    connected(localNames.sdkMcp, (transport) => serveSdk(() => mcpServer(tools), { transport })),
    connected(localNames.plain, (transport) => serveStdio(toolboxOf(referenceSize, 'plain'), { transport })),
  ])
  const message = JSON.parse(
    requestOf('session', 'tools/call', { path: '', call: callOf(referenceSize) }).body.toString(),
  ) as JSONRPCMessage
  try {
    return await inRounds(
      lines.map(({ name, ask }) => ({ name, run: () => ask(message) })),
      pace,
    )
  } finally {
    for (const { close } of lines) await close()
  }
}

async function connected(name: string, serve: (transport: InMemoryTransport) => { close(): Promise<void> }) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  let answered: (message: JSONRPCMessage) => void = () => undefined
  near.onmessage = (message) => answered(message)
  const served = serve(far)
  await near.start()
  const ask = async (message: JSONRPCMessage): Promise<JSONRPCMessage> => {
    const answer = new Promise<JSONRPCMessage>((resolve) => {
      answered = resolve
    })
    await near.send(message)
    return answer
  }
  const { first, second } = initializeOf('')
  await ask(JSON.parse(first.body.toString()) as JSONRPCMessage)
  await near.send(JSON.parse(second('').body.toString()) as JSONRPCMessage)
  return { name, ask, close: () => served.close() }
}

function postOf({ headers, body }: Message): Request {
  return new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body: body.toString() })
}
