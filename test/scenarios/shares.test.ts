import { defineToolbox } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { until } from '../../packages/client/test/processes.ts'
import { verifies } from '../verifies.ts'

verifies('N01', async ({ serve }) => {
  const order: string[] = []
  const ends: (() => void)[] = []
  const limits = { concurrency: 4, queue: 100 }
  const toolbox = defineToolbox({ name: 'slow', version: '1.0.0', limits }).tool(
    'work',
    { description: 'Works until it is let go' },
    async (_, { principal }) => {
      order.push(principal?.id ?? '')
      await new Promise<void>((resolve) => ends.push(resolve))
      return 'done'
    },
  )
  const server = await serve(toolbox)
  const [ann, bob] = [await server.connect({ principal: { id: 'ann' } }), await server.connect({ principal: { id: 'bob' } })]
  const greedy = Array.from({ length: 20 }, () => ann.call('work'))
  // Three of four slots are hers; the last one is free for others.
  await until(() => order.length === 3, 'her share of the slots is used')
  const modest = [bob.call('work'), bob.call('work')]
  await until(() => order.length === 4, 'his first call runs at once')
  expect(order.at(-1)).toBe('bob')
  const all = greedy.length + modest.length
  const endOne = (): boolean => {
    ends.shift()?.()
    return order.length === all
  }
  await until(endOne, 'every call has run', 60_000)
  for (const end of ends) end()
  for (const result of await Promise.all([...greedy, ...modest])) expect(result).toMatchObject({ content: [{ text: 'done' }] })
  // His second call waits for one turn of hers at most after it arrives; her other calls wait for theirs.
  expect(order.lastIndexOf('bob')).toBeLessThan(all - 5)
})

verifies('N02', async ({ serve, testTransport: { era } }) => {
  const toolbox = defineToolbox({ name: 'plain', version: '1.0.0' }).tool('ping', { description: 'Ping' }, () => 'pong')
  const server = await serve(toolbox, { sessions: { max: 4 }, maxSubscriptions: 4 })
  const ann = { principal: { id: 'ann' } }
  for (let each = 0; each < 3; each++) await server.connect(ann)
  const refusal = era === 'session' ? /Too many sessions of one client/u : /Too many subscriptions of one client/u
  await expect(server.connect(ann)).rejects.toThrow(refusal)
  const bob = await server.connect({ principal: { id: 'bob' } })
  expect(await bob.toolNames()).toEqual(['ping'])
})
