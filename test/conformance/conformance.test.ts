import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { redisServer } from '../redis.ts'
import { serveFixture } from './fixture.ts'
import { serveBehindGateway, serveBehindReplicas } from './gateway.ts'
import { expectationsIn, judged } from './judgement.ts'
import { installedSuite, resultsOf, type Selection, type Serve, type Suite, scenariosOf } from './suite.ts'

const stateless = '2026-07-28'

const eras = {
  session: (mark: string) => /^\d/.test(mark) && mark < stateless,
  stateless: (mark: string) => mark === stateless || mark === 'extension',
}

describe('the official conformance suite', () => {
  let suite: Suite | undefined
  let scenarios: ReadonlyMap<string, readonly string[]>

  beforeAll(async () => {
    suite = await installedSuite()
    if (suite !== undefined) scenarios = await scenariosOf(suite)
    else console.warn('Skipped: conformance suite (npm registry unreachable).')
  }, 300_000)

  const gatewayLists = { session: 'gateway-session', stateless: 'gateway-stateless' }
  // Replicas store the messages of a call for clients that reconnect.
  const replicated = { ...gatewayLists, session: 'replicas-session' }
  const subjects: readonly { readonly where: string; readonly lists: typeof gatewayLists; readonly serve: Serve }[] = [
    { where: '', lists: { session: 'session', stateless: 'stateless' }, serve: serveFixture },
    { where: ' behind a gateway', lists: gatewayLists, serve: serveBehindGateway },
    ...(redisServer.isMissing ? [] : [{ where: ' behind three replicas', lists: replicated, serve: serveBehindReplicas }]),
  ]
  const cases = subjects.flatMap((subject) => (['session', 'stateless'] as const).map((era) => ({ ...subject, era })))

  for (const { where, lists, serve, era } of cases) {
    test(`reports only expected failures for a ${era} server${where}`, { timeout: 300_000 }, async ({ skip, signal }) => {
      if (suite === undefined) {
        skip('the npm registry cannot be reached')
        return
      }
      const expected = expectationsIn(await readFile(new URL(`expected-failures.${lists[era]}.yml`, import.meta.url), 'utf8'))
      const marks = new Set([...scenarios.values()].flat().filter(eras[era]))
      expect(marks.size).toBeGreaterThan(0)
      await using served = await serve(era)
      const results = []
      for (const mark of marks) {
        const named = [...scenarios].filter(([, applies]) => applies.includes(mark)).map(([name]) => name)
        const selections: Selection[] = mark === 'extension' ? named.map((scenario) => ({ scenario })) : [{ revision: mark }]
        const found = []
        for (const selection of selections) found.push(...(await resultsOf(suite, { selection, url: served.url, signal })))
        expect(found.map(({ scenario }) => scenario).sort()).toEqual(named.sort())
        results.push(...found)
      }
      expect(judged(results, expected)).toEqual({ unexpected: [], stale: [] })
    })
  }
})

describe('comparing results with expectations', () => {
  const check = (id: string, status: string) => ({ id, status, errorMessage: 'because' })
  const results = [
    { scenario: 'ping', checks: [check('answers', 'FAILURE'), check('quickly', 'WARNING'), check('politely', 'SUCCESS')] },
  ]

  test('reports unexpected failures and warnings', () => {
    expect(judged(results, []).unexpected).toEqual(['ping:answers: because', 'ping:quickly: because'])
  })

  test('accepts an expectation for a scenario or for one of its checks', () => {
    expect(judged(results, ['ping'])).toEqual({ unexpected: [], stale: [] })
    expect(judged(results, ['ping:answers'])).toEqual({ unexpected: ['ping:quickly: because'], stale: [] })
  })

  test('reports expectations that no longer fail', () => {
    expect(judged(results, ['ping', 'ping:politely', 'pong']).stale).toEqual(['ping:politely', 'pong'])
  })

  test('reads expectations in the format of the suite', () => {
    expect(expectationsIn('# why\nserver:\n  # a reason\n  - ping\n  - ping:answers\n')).toEqual(['ping', 'ping:answers'])
    expect(expectationsIn('server: []\n')).toEqual([])
  })
})
