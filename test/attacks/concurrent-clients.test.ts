import { connect } from 'node:net'
import { defineToolbox, listen } from '@unfold-mcp/server'
import { expect, test } from 'vitest'
import { cpuTime } from '../cpu-time.ts'
import { exchange, head, common as headers, post } from './raw.ts'
import { ask, callTool, hello, openSession, request, routing, textOf } from './sender.ts'
import { type HttpTarget, httpTarget } from './target.ts'

const mebibyte = 1024 * 1024

/** Runs `work` many times with limited concurrency. */
async function many(times: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < times) await work(next++)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

test('AT-F67: 200 concurrent sessions that activate different groups see only their own', async () => {
  const names = Array.from({ length: 200 }, (_, index) => `group${index}`)
  const toolbox = defineToolbox({
    name: 'concurrent',
    version: '1.0.0',
    groups: Object.fromEntries(names.map((name) => [name, { description: name }])),
  })
  for (const name of names) toolbox.tool(`tool_of_${name}`, { group: name }, () => name)
  await using server = await listen(toolbox, { port: 0 })
  const port = Number(new URL(server.url).port)
  const sessions = await Promise.all(names.map(() => openSession(port)))
  await Promise.all(
    names.map((name, index) => ask(port, sessions[index] ?? { id: '', headers: {} }, 'tools/call', { name: `activate_${name}` })),
  )
  const seen = await Promise.all(
    sessions.map(async (session) => {
      const answer = await ask(port, session, 'tools/list')
      const tools = answer?.messages[0]?.result?.tools as readonly { name: string }[]
      return tools.map(({ name }) => name).filter((name) => name.startsWith('tool_of_'))
    }),
  )
  expect(seen).toEqual(names.map((name) => [`tool_of_${name}`]))
  const foreign = await ask(port, sessions[0] ?? { id: '', headers: {} }, 'tools/call', { name: 'tool_of_group1' })
  expect(foreign?.messages[0]?.error?.data).toMatchObject({ reason: 'unknown_tool' })
})

async function isLevel(target: HttpTarget, before: { heapUsed: number; sessions: number }): Promise<void> {
  const { heapUsed, sessions, unhandled } = await target.health()
  expect({ sessions, unhandled }).toEqual({ sessions: before.sessions, unhandled: [] })
  expect(heapUsed - before.heapUsed).toBeLessThan(8 * mebibyte)
  expect(textOf((await callTool(target.port, 'ping'))?.messages[0])).toBe('pong')
}

test('AT-I116: 1,000 clients that connect, activate and disconnect leave nothing behind', { timeout: 300_000 }, async () => {
  await using target = await httpTarget()
  const { port } = target
  const visit = async (): Promise<void> => {
    const id = (await exchange(port, post(hello())))?.headers['mcp-session-id'] ?? ''
    const own = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    await exchange(port, post(request('session', 'tools/call', { name: 'activate_files' }), own))
    await exchange(port, [{ bytes: head('DELETE', '/mcp', { ...headers, ...own }) }])
  }
  await many(100, visit)
  const before = await target.health()
  await many(1_000, visit)
  await isLevel(target, before)
})

test('AT-I116: 1,000 clients that drop the connection during a call or a subscription leave nothing behind', {
  timeout: 60_000,
}, async () => {
  await using target = await httpTarget()
  const [call] = post(
    request('stateless', 'tools/call', { name: 'wait', arguments: { ms: 30_000 } }),
    routing('tools/call', { name: 'wait' }),
  )
  const [listening] = post(
    request('stateless', 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
    routing('subscriptions/listen'),
  )
  const vanish = async (index: number): Promise<void> => {
    const socket = connect(target.port, '127.0.0.1')
    socket.on('error', () => undefined).write((index % 2 === 0 ? call : listening)?.bytes ?? '')
    await new Promise((resolve) => setTimeout(resolve, index % 12))
    socket.destroy()
  }
  await many(100, vanish)
  const before = await target.health()
  await many(1_000, vanish)
  await isLevel(target, before)
})

test('AT-T17: finding the nearest of 10,000 tool names does not block other clients', { timeout: 300_000 }, async () => {
  const named = (index: number): string => `${'some_rather_long_name_of_a_tool_'.repeat(3)}${index}`
  const toolbox = defineToolbox({ name: 'large', version: '1.0.0' })
  for (let index = 0; index < 10_000; index++) toolbox.tool(named(index), {}, () => 'found')
  toolbox.tool('ping', {}, () => 'pong')
  await using server = await listen(toolbox, { port: 0 })
  const port = Number(new URL(server.url).port)
  const { ms } = await cpuTime(async () => {
    const asked = Promise.all(Array.from({ length: 10 }, (_, index) => callTool(port, named(index).replaceAll('o', '0'))))
    expect(textOf((await callTool(port, 'ping'))?.messages[0])).toBe('pong')
    for (const answer of await asked) expect(answer?.messages[0]?.error?.data).toMatchObject({ reason: 'unknown_tool' })
  })
  console.info(`Among 10,000 tools, each unknown name took ${Math.round(ms / 10)} ms of CPU time.`)
  expect(ms / 10).toBeLessThan(200)
})
