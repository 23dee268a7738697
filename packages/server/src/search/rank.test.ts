import { describe, expect, test } from 'vitest'
import { replyData, testContext } from '../testing/index.ts'
import type { Report } from '../tool/report.ts'
import { defineToolbox } from '../toolbox.ts'
import type { Rank, SearchSettings } from './index.ts'

async function found(settings: SearchSettings, { query = 'monthly report', limit = 5, reports = [] as Report[] } = {}) {
  const box = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    exposure: 'search',
    search: settings,
    permit: (_, { name }) => name !== 'read_secret_report',
    report: (report) => reports.push(report),
  })
  for (const name of ['read_report', 'send_report', 'print_report', 'read_secret_report'])
    box.tool(name, { about: 'For monthly reports' }, () => '')
  await using client = await testContext(box, { principal: { id: 'ada' } })
  const reply = await client.call('search_tools', { query, limit })
  const { content } = reply
  return { ...(replyData(reply) as { names: string[]; fallback?: string }), content }
}

describe('rank', () => {
  const usual = ['print_report', 'read_report', 'send_report']

  test('has the last word on the order, at once or later', async () => {
    expect((await found({})).names).toEqual(usual)
    expect((await found({ rank: (_, matches) => matches.toReversed() })).names).toEqual(usual.toReversed())
    expect((await found({ rank: async (_, matches) => matches.toReversed() })).names).toEqual(usual.toReversed())
  })

  test('sees more than is shown, and who asks for what', async () => {
    const seen: unknown[] = []
    const rank: Rank = (query, matches, { principal }) => {
      seen.push(
        query,
        matches.map(({ tool }) => tool.name),
        principal,
      )
      return matches.toReversed()
    }
    expect((await found({ rank }, { limit: 1 })).names).toEqual(['send_report'])
    expect(seen).toEqual(['monthly report', usual, { id: 'ada' }])
  })

  test('may leave matches out, and can neither add nor repeat any', async () => {
    expect((await found({ rank: (_, matches) => matches.slice(0, 1) })).names).toEqual(['print_report'])
    const rank: Rank = (_, [first, ...rest]) => {
      const invented = { tool: { name: 'read_secret_report', inputSchema: { type: 'object' as const } }, score: 9, isNamed: true }
      return first === undefined ? [] : [invented, first, first, ...rest]
    }
    expect((await found({ rank })).names).toEqual(usual)
  })

  test('is not asked where nothing was found', async () => {
    const rank: Rank = () => {
      throw new Error('asked')
    }
    expect(await found({ rank }, { query: 'quantum chromodynamics' })).not.toHaveProperty('fallback')
  })

  const wrong: { readonly [what: string]: Rank } = {
    throws: () => {
      throw new Error('no model')
    },
    rejects: () => Promise.reject(new Error('no model')),
    'gives nothing': () => undefined as never,
    'gives something else': () => [1] as never,
  }
  test.each(Object.entries(wrong))('that %s changes nothing, and the answer says so', async (_, rank) => {
    const reports: Report[] = []
    expect(await found({ rank }, { reports })).toMatchObject({ names: usual, fallback: 'rank_failed' })
    expect(reports).toMatchObject([{ reason: 'search_degraded' }])
  })

  test('that takes too long is told, and left behind', async () => {
    let told: AbortSignal | undefined
    const rank: Rank = (_, __, { signal }) => {
      told = signal
      return new Promise(() => undefined)
    }
    const { names, fallback, content } = await found({ rank, deadlineMs: 20 })
    expect({ names, fallback }).toEqual({ names: usual, fallback: 'rank_late' })
    expect(JSON.stringify(content)).toContain('In the usual order: ranking took too long.')
    expect(told?.aborted).toBe(true)
  })
})
