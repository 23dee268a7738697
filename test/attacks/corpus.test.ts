import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Attack, call, type Outcome } from './attack.ts'
import { corpus } from './corpus.ts'
import { judge, judgeHttp } from './judge.ts'
import { exchange } from './raw.ts'
import {
  callTool,
  type HttpSession,
  hello,
  nextId,
  notification,
  openSession,
  overHttp,
  overStdio,
  request,
  textOf,
} from './sender.ts'
import { type HttpTarget, httpTarget, type PipeTarget, pipeTarget, type Target } from './target.ts'

const mebibyte = 1024 * 1024

const expectedOver = ({ expect: outcome }: Attack, layer: 'http' | 'stdio'): Outcome =>
  'kind' in outcome ? outcome : outcome[layer]

const over = (layer: 'http' | 'stdio'): readonly Attack[] =>
  corpus.filter((attack) => attack.over === layer || attack.over === 'both')

/** The longest time that another client waited, and during which attack; `raw.ts` and `target.ts` have generous timeouts. */
let slowest = { ms: 0, id: '' }

async function timed<T>(id: string, work: Promise<T>): Promise<T> {
  const start = performance.now()
  const result = await work
  const ms = Math.round(performance.now() - start)
  if (ms > slowest.ms) slowest = { ms, id }
  return result
}

async function expectHealthy(target: Target, before: { readonly rss: number }): Promise<void> {
  expect(target.isAlive).toBe(true)
  const { unhandled, polluted, rss } = await target.health()
  expect({ unhandled, polluted }).toEqual({ unhandled: [], polluted: false })
  expect(rss - before.rss).toBeLessThan(400 * mebibyte)
}

test('every attack has a unique id', () => {
  expect(new Set(corpus.map(({ id }) => id)).size).toBe(corpus.length)
})

describe('over HTTP', () => {
  let target: HttpTarget
  let attacker: HttpSession
  let before: { rss: number; sessions: number }

  beforeAll(async () => {
    target = await httpTarget()
    attacker = await openSession(target.port)
    before = await target.health()
  })
  afterAll(() => target[Symbol.asyncDispose]())

  const bystander = async (id: string): Promise<void> => {
    const answer = await timed(id, callTool(target.port, 'ping'))
    expect(textOf(answer?.messages[0])).toBe('pong')
  }

  test.each(over('http'))('$id: $what', async (attack) => {
    const attacking = exchange(target.port, overHttp(attack.as, attack.send, attacker))
    await bystander(attack.id)
    judgeHttp(await attacking, expectedOver(attack, 'http'))
    await bystander(attack.id)
  })

  test('after all attacks the server is healthy, and no session is left', async () => {
    await expectHealthy(target, before)
    expect((await target.health()).sessions).toBe(before.sessions)
    console.info(`Over HTTP a bystander waited ${slowest.ms} ms at most (${slowest.id}).`)
  })
})

describe('over standard input and output', () => {
  const targets: Partial<Record<'session' | 'stateless', PipeTarget>> = {}
  let before: { rss: number }

  beforeAll(async () => {
    slowest = { ms: 0, id: '' }
    targets.session = await pipeTarget()
    targets.stateless = await pipeTarget()
    targets.session.send(`${hello()}\n${notification('notifications/initialized')}\n`)
    before = await targets.session.health()
  })
  afterAll(() => Promise.all(Object.values(targets).map((target) => target[Symbol.asyncDispose]())))

  const pong = async (target: PipeTarget, { id: attackId }: Attack, as: 'session' | 'stateless'): Promise<void> => {
    const id = nextId()
    const { method, params } = call('ping') as { method: string; params: Record<string, unknown> }
    target.send(`${request(as, method, params, id)}\n`)
    expect(
      textOf(
        await timed(
          attackId,
          target.receives((message) => message.id === id),
        ),
      ),
    ).toBe('pong')
  }

  test.each(over('stdio'))('$id: $what', async (attack) => {
    const as = attack.as === 'stateless' ? 'stateless' : 'session'
    const target = targets[as]
    if (target === undefined) throw new Error('No such target.')
    await pong(target, attack, as)
    const expected = expectedOver(attack, 'stdio')
    const start = target.messages.length
    const isNew = (): boolean => target.messages.slice(start).some((message) => message.method === undefined)
    target.send(overStdio(as, attack.send))
    if (expected.kind !== 'ignored') await target.receives(isNew)
    const first = target.messages.slice(start)
    await pong(target, attack, as)
    const ids = new Set(first.map(({ id }) => id))
    const later = target.messages.slice(start + first.length).filter(({ id }) => ids.has(id))
    judge([...first, ...later], expected)
  })

  test('after all attacks both servers are healthy, and exit when their input ends', async () => {
    for (const target of Object.values(targets)) {
      await expectHealthy(target, before)
      expect(await target.end()).toBe(0)
    }
    console.info(`Over standard input and output the next request waited ${slowest.ms} ms at most (${slowest.id}).`)
  })
})
