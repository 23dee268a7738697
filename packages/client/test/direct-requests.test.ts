import { expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import { failure } from './failing.ts'
import { server, until } from './processes.ts'

const raw = server('raw.mjs')
const unlisted = { unlisted: true, validate: false } as const

test('concurrent calls get their own responses, in any order', async () => {
  await using connection = await connect(raw, { protocol: 'session' })
  const names = Array.from({ length: 200 }, (_, index) => `call ${index}`)
  const calls = names.map((name, index) => connection.call('hold', { name, last: index === names.length - 1 }, unlisted))
  const answers = await Promise.all(calls)
  expect(answers.map(({ content: [block] }) => block)).toEqual(names.map((text) => ({ type: 'text', text })))
})

test('notifications before a response are delivered before it, also in one chunk', async () => {
  const received: unknown[] = []
  await using connection = await connect(raw, { protocol: 'session', relays: true })
  const relay = {
    capabilities: {},
    onRequest: () => Promise.reject(new Error('unexpected request')),
    onLog: ({ data }: { readonly data?: unknown }) => void received.push(data),
  }
  const { content } = await connection.call(
    'talk',
    {},
    { ...unlisted, relay, onProgress: (report) => void received.push(report) },
  )
  expect(received).toEqual(['logged', { progress: 1, total: 2 }])
  expect(content).toEqual([{ type: 'text', text: 'done' }])
})

test('a progress handler that throws is reported, and the call still succeeds', async () => {
  const warnings: string[] = []
  await using connection = await connect(raw, { protocol: 'session', onWarning: (warning) => void warnings.push(warning) })
  const onProgress = (): never => {
    throw new Error('I fail.')
  }
  const { content } = await connection.call('talk', {}, { ...unlisted, onProgress })
  expect(content).toEqual([{ type: 'text', text: 'done' }])
  await until(() => warnings.length > 0, 'the warning')
  expect(warnings.join()).toContain('I fail.')
})

test('each call has its own timeout, and the server receives its cancellation', async () => {
  const reported: string[] = []
  await using connection = await connect(raw, { protocol: 'session', onStderr: (line) => void reported.push(line) })
  const long = connection.call('never', {}, { ...unlisted, timeoutMs: 60_000 })
  const [idle, inAll] = await Promise.all([
    failure(connection.call('never', {}, { ...unlisted, timeoutMs: 40 })),
    failure(connection.call('never', {}, { ...unlisted, maxTimeoutMs: 20 })),
  ])
  expect(idle).toMatchObject({ reason: 'timeout', details: { timeoutMs: 40 } })
  expect(inAll).toMatchObject({ reason: 'timeout', details: { timeoutMs: 20 } })
  await until(() => reported.length === 2, 'the cancellations')
  expect(reported.toSorted()).toEqual([inAll.message, idle.message].toSorted())
  const lost = failure(long)
  await connection.close()
  expect(await lost).toMatchObject({ reason: 'unreachable' })
})

test('malformed responses fail only their own calls', async () => {
  await using connection = await connect(raw, { protocol: 'session' })
  const wordless = await failure(connection.call('wordless', {}, unlisted))
  expect(wordless).toMatchObject({ reason: 'protocol', message: expect.stringContaining('neither a result') })
  expect(await failure(connection.call('shapeless', {}, unlisted))).toMatchObject({ reason: 'protocol' })
  expect(await failure(connection.call('refused', {}, unlisted))).toMatchObject({
    reason: 'protocol',
    details: { problem: 'not today', code: -32_050 },
  })
  expect((await connection.call('hold', { name: 'fine', last: true }, unlisted)).isError).toBe(false)
})
