import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openScripts, parseCases, runRecorded } from '@unfold-mcp/gateway/scripts'
import { testServer } from '@unfold-mcp/server/testing'
import { afterAll, expect, test } from 'vitest'
import { reports, shop } from '../../docs/examples/code.ts'
import * as lateOrders from '../../docs/examples/scripts/late_orders.ts'
import { shownAs, transcript } from './transcript.ts'

/** The page must show exactly this text. */
const shows = (name: string, text: string): Promise<void> => expect(text).toMatchFileSnapshot(shownAs(name))

afterAll(async () => {
  await shop.close()
  await reports.close()
})

test('code: types, a script that filters, and a mistake', async () => {
  const session = await transcript(shop, { era: 'session' }, async (client) => {
    await client.list()
    await client.call('search_tools', { query: 'list orders' })
    await client.call('describe_tools', { names: ['list_orders', 'create_ticket'], as: 'typescript' })
    await client.run(`const { orders } = await tools.list_orders()
const late = orders.filter((order) => order.state === 'late')
console.log(late.length, 'of', orders.length)
return late.map(({ id, cents }) => ({ id, euros: cents / 100 }))`)
  })
  await shows('code', session)
  const mistakes = await transcript(shop, { era: 'session' }, async (client) => {
    await client.run(`const { orders } = await tools.list_orders({ limit: 3 })
const first: number = orders[0].id
await tools.list_orders({ limit: 'all' })`)
    await client.run(`enum State { Late }
return State.Late`)
  })
  await shows('code-mistakes', mistakes)
})

test('code: a call that writes waits for a person', async () => {
  const asked = await transcript(shop, { era: 'session' }, async (client) => {
    await client.run(`const { number } = await tools.create_ticket({ title: 'Order 8 is late' })
return number`)
  })
  await shows('code-unconfirmed', asked)
})

test('stored scripts: the examples run, and pass their recorded calls', async () => {
  const folder = join(import.meta.dirname, '../../docs/examples/scripts')
  await using opened = openScripts()
  const { scripts, problems } = await opened.read(folder)
  expect(problems).toEqual([])
  const { default: _, ...declaration } = lateOrders
  expect(scripts).toMatchObject([{ name: 'late_orders', declaration }])
  const stripped = await opened.stripper.strip(scripts[0]?.code ?? '', { isModule: true })
  for (const each of parseCases(await readFile(join(folder, 'late_orders.calls.json'), 'utf8')))
    expect(await runRecorded('source' in stripped ? stripped.source : '', each, opened.engine)).toMatchObject({ problems: [] })
  await using server = await testServer(reports, { transport: 'memory', era: 'session' })
  expect(await (await server.connect()).call('count_late')).toMatchObject({ structuredContent: { late: 4 } })
})
