import { describe, expect, test } from 'vitest'
import { replyData, testContext } from '../testing/index.ts'
import type { Report } from '../tool/report.ts'
import { defineToolbox } from '../toolbox.ts'
import type { Rank, SearchSettings } from './index.ts'

async function search(settings: SearchSettings, { query = 'monthly report', limit = 5, reports = [] as Report[] } = {}) {
  const box = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    exposure: 'search',
    search: settings,
    permit: (_, { name }) => name !== 'read_secret_report',
    report: (report) => reports.push(report),
  })
  for (const name of ['read_report', 'send_report', 'print_report', 'read_secret_report'])
    box.tool(name, { description: 'For monthly reports' }, () => '')
  await using client = await testContext(box, { principal: { id: 'ada' } })
  const reply = await client.call('search_tools', { query, limit })
  const { content } = reply
  return { ...(replyData(reply) as { names: string[]; fallback?: string }), content }
}

const defaultOrder = (await search({})).names

describe('rank', () => {
  test('the default order has all matches', () => {
    expect(defaultOrder.toSorted()).toEqual(['print_report', 'read_report', 'send_report'])
  })

  test('determines the final order, synchronously or not', async () => {
    expect((await search({})).names).toEqual(defaultOrder)
    expect((await search({ rank: (_, matches) => matches.toReversed() })).names).toEqual(defaultOrder.toReversed())
    expect((await search({ rank: async (_, matches) => matches.toReversed() })).names).toEqual(defaultOrder.toReversed())
  })

  test('gets more matches than are returned, the query and the principal', async () => {
    const received: unknown[] = []
    const rank: Rank = (query, matches, { principal }) => {
      received.push(
        query,
        matches.map(({ tool }) => tool.name),
        principal,
      )
      return matches.toReversed()
    }
    expect((await search({ rank }, { limit: 1 })).names).toEqual(defaultOrder.slice(-1))
    expect(received).toEqual(['monthly report', defaultOrder, { id: 'ada' }])
  })

  test('can omit matches, but not add or repeat any', async () => {
    expect((await search({ rank: (_, matches) => matches.slice(0, 1) })).names).toEqual(defaultOrder.slice(0, 1))
    const rank: Rank = (_, [first, ...rest]) => {
      const invented = { tool: { name: 'read_secret_report', inputSchema: { type: 'object' as const } }, score: 9, isNamed: true }
      return first === undefined ? [] : [invented, first, first, ...rest]
    }
    expect((await search({ rank })).names).toEqual(defaultOrder)
  })

  test('is not called without matches', async () => {
    const rank: Rank = () => {
      throw new Error('called')
    }
    expect(await search({ rank }, { query: 'quantum chromodynamics' })).not.toHaveProperty('fallback')
  })

  const failures: { readonly [what: string]: Rank } = {
    throws: () => {
      throw new Error('no model')
    },
    rejects: () => Promise.reject(new Error('no model')),
    'returns undefined': () => undefined as never,
    'returns something else': () => [1] as never,
  }
  test.each(Object.entries(failures))('that %s keeps the default order, and the result says so', async (_, rank) => {
    const reports: Report[] = []
    expect(await search({ rank }, { reports })).toMatchObject({ names: defaultOrder, fallback: 'rank_failed' })
    expect(reports).toMatchObject([{ reason: 'search_degraded' }])
  })

  test('that times out is aborted', async () => {
    let rankSignal: AbortSignal | undefined
    const rank: Rank = (_, __, { signal }) => {
      rankSignal = signal
      return new Promise(() => undefined)
    }
    const { names, fallback, content } = await search({ rank, deadlineMs: 20 })
    expect({ names, fallback }).toEqual({ names: defaultOrder, fallback: 'rank_timeout' })
    expect(JSON.stringify(content)).toContain('Default order: ranking timed out.')
    expect(rankSignal?.aborted).toBe(true)
  })
})
