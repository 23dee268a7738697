import { createToken } from '@unfold-mcp/gateway'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attack, Outcome } from './attack.ts'
import { edge } from './corpus/edge.ts'
import { framing } from './corpus/framing.ts'
import { invalidRequests } from './corpus/routes.ts'
import { size } from './corpus/size.ts'
import { judgeHttp } from './judge.ts'
import { exchange, head, common as headers } from './raw.ts'
import { callTool, type HttpSession, openSession, overHttp, textOf } from './sender.ts'
import { gatewayTarget, type HttpTarget } from './target.ts'

const mebibyte = 1024 * 1024

/** Attacks on groups and names that only the upstream server has. */
const ofTheServer = /^AT-T12-(quota|repeated|version)|^AT-F74-param-(alias|hidden)/u

const attacks = [...framing, ...size, ...edge].filter(
  ({ id, over }) => (over === 'http' || over === 'both') && !ofTheServer.test(id),
)

const expected = ({ expect: outcome }: Attack): Outcome => ('kind' in outcome ? outcome : outcome.http)

async function isAlive({ port }: HttpTarget): Promise<void> {
  expect((await exchange(port, [{ bytes: head('GET', '/healthz', headers) }]))?.status).toBe(200)
}

async function expectHealthy(target: HttpTarget, before: { readonly rss: number }): Promise<void> {
  expect(target.isAlive).toBe(true)
  const { unhandled, polluted, rss } = await target.health()
  expect({ unhandled, polluted }).toEqual({ unhandled: [], polluted: false })
  expect(rss - before.rss).toBeLessThan(400 * mebibyte)
}

describe('a gateway under attack', () => {
  let target: HttpTarget
  let attacker: HttpSession
  let before: { rss: number }

  beforeAll(async () => {
    target = await gatewayTarget()
    attacker = await openSession(target.port)
    before = await target.health()
  })
  afterAll(() => target[Symbol.asyncDispose]())

  test.each(attacks)('$id: $what', async (attack) => {
    const attacking = exchange(target.port, overHttp(attack.as, attack.send, attacker))
    await isAlive(target)
    judgeHttp(await attacking, expected(attack))
    expect(textOf((await callTool(target.port, 'ping'))?.messages[0])).toBe('pong')
  })

  test('after all attacks the gateway is healthy', () => expectHealthy(target, before))
})

describe('a gateway with tokens', () => {
  const { token, record } = createToken('someone')
  let target: HttpTarget
  let before: { rss: number }

  beforeAll(async () => {
    target = await gatewayTarget({ tokens: [record] })
    before = await target.health()
  })
  afterAll(() => target[Symbol.asyncDispose]())

  test.each(invalidRequests)('$id: $what', async ({ bytes, status }) => {
    const answer = await exchange(target.port, [{ bytes }])
    expect(answer?.status).toBe(status)
    expect(Object.keys(answer?.headers ?? {}).filter((name) => name.startsWith('access-control-'))).toEqual([])
    expect(answer?.headers['www-authenticate']?.startsWith('Bearer') ?? false).toBe(status === 401)
    await isAlive(target)
  })

  test('after all attacks the gateway is healthy, and serves clients with a token', async () => {
    await expectHealthy(target, before)
    const answer = await callTool(target.port, 'ping', {}, { authorization: `Bearer ${token}` })
    expect(textOf(answer?.messages[0])).toBe('pong')
  })
})
