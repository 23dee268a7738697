import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchange, post } from './raw.ts'
import { callTool, type HttpSession, hello, nextId, notification, openSession, request, textOf } from './sender.ts'
import { type HttpTarget, httpTarget, type PipeTarget, pipeTarget, type Target } from './target.ts'

const method = fc.oneof(
  fc.constantFrom('tools/call', 'tools/list', 'ping', 'initialize', 'notifications/cancelled', 'notifications/initialized'),
  fc.string(),
)
const key = fc.oneof(
  fc.constantFrom('name', 'arguments', '_meta', 'cursor', '__proto__', 'constructor', 'requestId'),
  fc.string(),
)
const params = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.dictionary(key, fc.oneof(fc.constantFrom('ping', 'echo'), fc.jsonValue({ maxDepth: 3 }))),
)

/** Random values that often resemble messages. */
const almostMessage = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) }),
    id: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.string(), fc.jsonValue({ maxDepth: 1 })),
    method: fc.oneof({ weight: 5, arbitrary: method }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) }),
    params,
    result: fc.jsonValue({ maxDepth: 2 }),
    error: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['jsonrpc'] },
)
const value = fc.oneof(fc.jsonValue(), almostMessage, fc.array(almostMessage, { maxLength: 3 }))
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))

async function expectHealthy(target: Target): Promise<void> {
  const { unhandled, polluted } = await target.health()
  expect({ alive: target.isAlive, unhandled, polluted }).toEqual({ alive: true, unhandled: [], polluted: false })
}

describe('over HTTP', () => {
  let target: HttpTarget
  let session: HttpSession

  beforeAll(async () => {
    target = await httpTarget()
    session = await openSession(target.port)
  })
  afterAll(() => target[Symbol.asyncDispose]())

  const statuses = [200, 202, 400, 404]

  test('any JSON value as a body gets a valid protocol response', async () => {
    await fc.assert(
      fc.asyncProperty(value, fc.boolean(), async (body, inSession) => {
        const answer = await exchange(target.port, post(JSON.stringify(body), inSession ? session.headers : {}))
        expect(statuses).toContain(answer?.status)
        for (const { id, error } of answer?.messages ?? []) {
          expect(id === undefined ? 'notification' : typeof id).toMatch(/notification|string|number|object/u)
          expect(error?.code ?? 0).toSatisfy(Number.isSafeInteger)
        }
      }),
      { numRuns: 400 },
    )
    await expectHealthy(target)
  })

  test('any bytes as a body get a valid protocol response', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        const answer = await exchange(target.port, post(body, session.headers))
        expect(statuses).toContain(answer?.status)
      }),
      { numRuns: 200 },
    )
    await expectHealthy(target)
  })

  test('any bytes instead of HTTP do no harm', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, async (noise) => {
        // The server waits for bytes that may still become HTTP; this test does not.
        await exchange(target.port, [{ bytes: noise }, { bytes: '\r\n\r\n', afterMs: 1 }], 20).catch(() => undefined)
      }),
      { numRuns: 100 },
    )
    expect(textOf((await callTool(target.port, 'ping'))?.messages[0])).toBe('pong')
    await expectHealthy(target)
  })
})

describe('over standard input and output', () => {
  let target: PipeTarget

  beforeAll(async () => {
    target = await pipeTarget()
    target.send(`${hello()}\n${notification('notifications/initialized')}\n`)
  })
  afterAll(() => target[Symbol.asyncDispose]())

  const pong = async (): Promise<void> => {
    const id = `ping ${nextId()}`
    target.send(`${request('session', 'ping', undefined, id)}\n`)
    await target.receives((message) => message.id === id)
  }

  test('any JSON value on a line is answered or ignored, and the next line is handled', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 20 }), async (values) => {
        for (const each of values) target.send(`${JSON.stringify(each)}\n`)
        await pong()
      }),
      { numRuns: 100 },
    )
    await expectHealthy(target)
  })

  test('any bytes on a line are answered or ignored, and the next line is handled', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, async (noise) => {
        target.send(Buffer.concat([noise, Buffer.from('\n')]))
        await pong()
      }),
      { numRuns: 300 },
    )
    await expectHealthy(target)
  })
})
