import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { testClient } from '../testing/client.ts'
import { defineToolbox } from '../toolbox.ts'
import { createHandler, type Handler, type HandlerOptions } from '../transports/handler.ts'

const eras = ['session', 'stateless'] as const

/** Serves two toolboxes with one handler: the second to the principal `red`. */
function twoToolboxes(options: HandlerOptions = {}) {
  const info = { name: 'red' }
  const blue = defineToolbox({ name: 'blue', version: '1.0.0', description: 'Blue things' }).tool('paint', {}, () => 'blue')
  const red = defineToolbox({
    name: 'unused',
    version: '0.0.0',
    description: 'unused',
    introduce: () => ({ info: { ...info, version: '2.0.0', description: 'Red things' }, description: `All ${info.name}` }),
  }).tool('paint', {}, () => 'red')
  const handler = createHandler(blue, {
    identify: (head) => ({ id: head.header('who') ?? 'nobody' }),
    servedTo: (principal) => (principal?.id === 'red' ? red : blue),
    ...options,
  })
  return { handler, blue, red, info }
}

const connect = (handler: Handler, who: string, era: (typeof eras)[number], listens = true) =>
  testClient(
    new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
      requestInit: { headers: { who } },
      fetch: (url, init) => handler.fetch(new Request(url, init)),
    }),
    { era, listens },
  )

describe.each(eras)('a handler with two toolboxes, in the era "%s"', (era) => {
  test('serves each principal its own toolbox, with its current name', async () => {
    const { handler, info } = twoToolboxes()
    await using _ = handler
    await using one = await connect(handler, 'ann', era)
    await using two = await connect(handler, 'red', era)
    expect((await one.call('paint')).content).toEqual([{ type: 'text', text: 'blue' }])
    expect((await two.call('paint')).content).toEqual([{ type: 'text', text: 'red' }])
    expect(one.client.getServerVersion()).toEqual({ name: 'blue', version: '1.0.0' })
    expect(two.client.getServerVersion()).toEqual({ name: 'red', version: '2.0.0', description: 'Red things' })
    expect(two.client.getInstructions()).toBe('All red.')
    info.name = 'crimson'
    await using three = await connect(handler, 'red', era)
    expect([three.client.getServerVersion()?.name, three.client.getInstructions()]).toEqual(['crimson', 'All crimson.'])
  })

  test('notifies only clients of the changed toolbox, and disconnects those of a removed one', async () => {
    const { handler, red, blue } = twoToolboxes()
    await using _ = handler
    await using one = await connect(handler, 'ann', era)
    await using two = await connect(handler, 'red', era)
    red.tool('mix', {}, () => 'pink')
    await two.waitForListChanges(1)
    await one.settle()
    expect(one.listChanges).toBe(0)
    const counts = () => [handler.sessionCount, handler.subscriptionCount]
    expect(counts()).toEqual(era === 'session' ? [2, 0] : [0, 2])
    await handler.remove(red)
    expect(counts()).toEqual(era === 'session' ? [1, 0] : [0, 1])
    blue.tool('mix', {}, () => 'cyan')
    await one.waitForListChanges(1)
    expect(await one.toolNames()).toEqual(['paint', 'mix'])
    const afterRemoval = two.toolNames().catch((error: unknown) => String(error))
    // 2026-07-28 clients have no server-side state that could be missing.
    expect(String(await afterRemoval)).toMatch(era === 'session' ? /Session not found/u : /^paint,mix$/u)
  })

  test('shares its limits between them', async () => {
    const { handler } = twoToolboxes({ sessions: { max: 2 }, maxSubscriptions: 2 })
    await using _ = handler
    await using one = await connect(handler, 'ann', era)
    await using two = await connect(handler, 'red', era)
    const next = (who: string) => connect(handler, who, era)
    for (const who of ['ann', 'red']) await expect(next(who)).rejects.toThrow(/limit reached \(2\)/u)
    expect(new Set(handler.sessions().map(({ number }) => number)).size).toBe(era === 'session' ? 2 : 0)
    await handler.disconnect((principal) => principal?.id === 'red')
    await using three = await next('ann')
    expect(await three.toolNames()).toEqual(await one.toolNames())
    await two.close()
  })
})
