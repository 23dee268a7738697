import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchange, type Piece, post } from './raw.ts'
import { type HttpSession, hello, nextId, notification, openSession, request, routing, textOf } from './sender.ts'
import { type HttpTarget, httpTarget, type PipeTarget, pipeTarget } from './target.ts'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const waiting = (ms: number): Record<string, unknown> => ({ name: 'wait', arguments: { ms } })
const cancelling = (requestId: unknown): string => notification('notifications/cancelled', { requestId })

/** Polls until the condition holds. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await isSo()) return
    await pause(20)
  }
  throw new Error('The condition did not become true in time.')
}

describe('over HTTP', () => {
  let target: HttpTarget
  let session: HttpSession

  beforeAll(async () => {
    target = await httpTarget()
    session = await openSession(target.port)
  })
  afterAll(() => target[Symbol.asyncDispose]())

  const inSession = (body: string) => exchange(target.port, post(body, session.headers))

  test('AT-A05: of two requests with the same id the second is rejected, and the first gets its own response', async () => {
    const id = nextId()
    const first = inSession(request('session', 'tools/call', waiting(400), id))
    await pause(30)
    const second = await inSession(request('session', 'tools/call', { name: 'ping' }, id))
    expect(second?.messages[0]).toMatchObject({ id, error: { code: -32600, data: { reason: 'duplicate_id', id } } })
    expect(textOf((await first)?.messages[0])).toBe('waited 400')
    expect(textOf((await inSession(request('session', 'tools/call', { name: 'ping' }, id)))?.messages[0])).toBe('pong')
  })

  test('AT-A05: "7" and 7 are different ids', async () => {
    const answers = await Promise.all([
      inSession(request('session', 'tools/call', waiting(50), 7)),
      inSession(request('session', 'tools/call', waiting(60), '7')),
    ])
    expect(answers.map((answer) => [answer?.messages[0]?.id, textOf(answer?.messages[0])])).toEqual([
      [7, 'waited 50'],
      ['7', 'waited 60'],
    ])
  })

  test('AT-A05: clients of 2026-07-28 share no ids', async () => {
    const call = (ms: number): readonly Piece[] =>
      post(request('stateless', 'tools/call', waiting(ms), 1), routing('tools/call', { name: 'wait' }))
    const answers = await Promise.all([80, 40, 60].map((ms) => exchange(target.port, call(ms))))
    expect(answers.map((answer) => textOf(answer?.messages[0]))).toEqual(['waited 80', 'waited 40', 'waited 60'])
  })

  test('AT-A05: after a disconnect, the id of a call is free once the call has ended, and no other client gets its response', async () => {
    const id = nextId()
    const { aborted } = await target.health()
    const [head] = post(request('session', 'tools/call', waiting(800), id), session.headers)
    const socket = connect(target.port, '127.0.0.1')
    socket.write(head?.bytes ?? '')
    await pause(50)
    socket.destroy()
    await pause(50)
    const early = await inSession(request('session', 'tools/call', { name: 'ping' }, id))
    expect(early?.messages[0]?.error?.data).toMatchObject({ reason: 'duplicate_id' })
    await eventually(async () => {
      const late = await inSession(request('session', 'tools/call', { name: 'ping' }, id))
      return textOf(late?.messages[0]) === 'pong'
    })
    // A lost connection is not a cancellation; the client may resume and get the response.
    expect((await target.health()).aborted).toBe(aborted)
  })

  test('AT-H101: a cancelled call is aborted without a response, and its stream ends', async () => {
    const id = nextId()
    const { aborted } = await target.health()
    const cancelled = inSession(request('session', 'tools/call', waiting(5_000), id))
    await pause(50)
    expect((await inSession(cancelling(id)))?.status).toBe(202)
    expect(await cancelled).toMatchObject({ status: 200, messages: [] })
    expect((await target.health()).aborted).toBe(aborted + 1)
    expect(textOf((await inSession(request('session', 'tools/call', { name: 'ping' }, id)))?.messages[0])).toBe('pong')
  })

  test('AT-H101: cancelling one call of a batch does not affect the other responses', async () => {
    const ids = [nextId(), nextId()]
    const calls = ids.map((id, index) => request('session', 'tools/call', waiting(index === 0 ? 5_000 : 150), id))
    const batch = inSession(`[${calls.join()}]`)
    await pause(50)
    await inSession(cancelling(ids[0]))
    const answer = await batch
    expect(answer?.messages.map(({ id }) => id)).toEqual([ids[1]])
  })

  test.each([
    ['after its answer', () => nextId()],
    ['that was never made', () => 'never'],
    ['named by an object', () => ({ id: 1 })],
    ['named by null', () => null],
    ['named by nothing', () => undefined],
    ['named by 100 KB', () => 'x'.repeat(100_000)],
  ])('AT-H101: cancelling a call %s, twice, changes nothing', async (_, idOf) => {
    const id = idOf()
    if (typeof id === 'number') await inSession(request('session', 'tools/call', { name: 'ping' }, id))
    for (const status of [202, 202]) expect((await inSession(cancelling(id)))?.status).toBe(status)
    expect(textOf((await inSession(request('session', 'tools/call', { name: 'ping' })))?.messages[0])).toBe('pong')
  })

  test('AT-H92: when a client of 2026-07-28 disconnects, its call is aborted, and other clients are not affected', async () => {
    const { aborted } = await target.health()
    const [head] = post(request('stateless', 'tools/call', waiting(5_000)), routing('tools/call', { name: 'wait' }))
    const sockets = Array.from({ length: 50 }, () => connect(target.port, '127.0.0.1'))
    for (const socket of sockets) socket.write(head?.bytes ?? '')
    await pause(100)
    for (const socket of sockets) socket.destroy()
    await eventually(async () => (await target.health()).aborted === aborted + 50)
    expect(textOf((await inSession(request('session', 'tools/call', { name: 'ping' })))?.messages[0])).toBe('pong')
  })

  test('AT-H92: clients that disconnect while sending leave nothing behind', async () => {
    const before = await target.health()
    const [head] = post(request('session', 'tools/call', waiting(10)), session.headers)
    const bytes = Buffer.from(head?.bytes ?? '')
    for (let end = 0; end < bytes.length; end += 8) {
      const socket = connect(target.port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(bytes.subarray(0, end))
      setTimeout(() => socket.destroy(), end % 3)
    }
    await pause(200)
    const { unhandled, sessions } = await target.health()
    expect({ unhandled, sessions }).toEqual({ unhandled: [], sessions: before.sessions })
    expect(textOf((await inSession(request('session', 'tools/call', { name: 'ping' })))?.messages[0])).toBe('pong')
  })

  test('after all attacks there is no uncaught error', async () => {
    expect((await target.health()).unhandled).toEqual([])
  })
})

describe('over standard input and output', () => {
  let target: PipeTarget

  beforeAll(async () => {
    target = await pipeTarget()
    target.send(`${hello()}\n${notification('notifications/initialized')}\n`)
  })
  afterAll(() => target[Symbol.asyncDispose]())

  const ping = async (): Promise<string> => {
    const id = nextId()
    target.send(`${request('session', 'tools/call', { name: 'ping' }, id)}\n`)
    return textOf(await target.receives((message) => message.id === id))
  }

  test('AT-A05: of two requests with the same id the second is rejected with a null id, and the first gets its own response', async () => {
    const id = nextId()
    target.send(
      `${request('session', 'tools/call', waiting(100), id)}\n${request('session', 'tools/call', { name: 'ping' }, id)}\n`,
    )
    const refusal = await target.receives(({ error }) => error?.data?.id === id)
    expect(refusal).toMatchObject({ id: null, error: { code: -32600, data: { reason: 'duplicate_id' } } })
    expect(textOf(await target.receives((message) => message.id === id))).toBe('waited 100')
    await ping()
    expect(target.messages.filter((message) => message.id === id)).toHaveLength(1)
  })

  test('AT-H101: a cancelled call is aborted without a response, and its id is free', async () => {
    const id = nextId()
    const { aborted } = await target.health()
    target.send(`${request('session', 'tools/call', waiting(5_000), id)}\n`)
    await ping()
    for (let times = 0; times < 2; times++) target.send(`${cancelling(id)}\n`)
    await eventually(async () => (await target.health()).aborted === aborted + 1)
    expect(target.messages.filter((message) => message.id === id)).toEqual([])
    target.send(`${request('session', 'tools/call', { name: 'ping' }, id)}\n`)
    expect(textOf(await target.receives((message) => message.id === id))).toBe('pong')
  })

  test('AT-H95: the server exits when the client disconnects, even while tools run', async () => {
    target.send(`${request('session', 'tools/call', { ...waiting(60_000), name: 'wait_deaf' })}\n`)
    await ping()
    expect(await target.end()).toBe(0)
  })
})
