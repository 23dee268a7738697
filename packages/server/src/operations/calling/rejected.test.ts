import { Failure } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { testContext } from '../../testing/index.ts'
import { defineToolbox } from '../../toolbox.ts'

test('calls that end before their handler runs are reported with their reason, and others are not', async () => {
  const reported: string[] = []
  const toolbox = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    exposure: 'search',
    hiddenCalls: 'reveal',
    report: () => undefined,
    rejected: ({ tool, reason }) => void reported.push(`${tool} ${reason}`),
    admit: ({ tool }) => {
      if (tool === 'limited') throw new Failure('rate_limited', 'Too many calls.', { limit: 1, retryAfterMs: 1 })
    },
  })
    .tool('add', { input: z.object({ a: z.number() }) }, ({ a }) => String(a))
    .tool('limited', {}, () => 'never')
    .tool('broken', {}, () => {
      throw new Error('broken')
    })
  await using client = await testContext(toolbox)
  await client.call('add', { a: 1 })
  await client.call('broken')
  await client.call('search_tools', { query: 'add' })
  await client.call('call_tool', { name: 'add', arguments: { a: 2 } })
  expect(reported).toEqual([])
  await client.call('add', { a: 'x' })
  await client.call('call_tool', { name: 'add', arguments: { a: 'x' } })
  await client.call('limited').catch(() => undefined)
  await client.call('nothing').catch(() => undefined)
  expect(reported).toEqual(['add invalid_arguments', 'add invalid_arguments', 'limited rate_limited', 'nothing unknown_tool'])
})
