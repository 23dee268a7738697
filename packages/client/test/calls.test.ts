import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { acceptedContent, inputRequired } from '@modelcontextprotocol/server'
import { defineToolbox } from '@unfold-mcp/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { connect } from '../src/connect.ts'
import type { Elicitation } from '../src/session/elicitation.ts'
import type { Clock } from '../src/time/clock.ts'
import { failure } from './failing.ts'
import { server, until } from './processes.ts'
import { serveToolbox } from './servers.ts'

/** Clock that advances only when the test advances it. */
function handClock() {
  let time = 0
  const timers = new Set<{ at: number; run: () => void }>()
  const clock: Clock = {
    now: () => time,
    wallTime: () => time,
    after(ms, run) {
      const timer = { at: time + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  const pass = (ms: number): void => {
    time += ms
    for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
      if (timer.at > time || !timers.delete(timer)) continue
      timer.run()
    }
  }
  return { clock, pass }
}

/** Toolbox with one tool that blocks until released. */
function waiting() {
  const calls: {
    readonly progress: (step: number) => Promise<void>
    readonly answer: (text: string) => void
    readonly signal: AbortSignal
  }[] = []
  const toolbox = defineToolbox({ name: 'waiting', version: '1.0.0', report: () => undefined }).tool('wait', {}, (_, ctx) => {
    return new Promise<string>((resolve) => {
      calls.push({ progress: async (step) => ctx.progress(step, 10), answer: resolve, signal: ctx.signal })
    })
  })
  return { toolbox, calls }
}

const named = z.object({ name: z.string() })

/** Toolbox with one tool that elicits input, in either era. */
const asking = () =>
  defineToolbox({ name: 'asking', version: '1.0.0', report: () => undefined }).tool('greet', {}, (_, { inputResponses }) => {
    const answer = acceptedContent(inputResponses, 'name', named)
    if (answer !== undefined) return `Hello ${answer.name}`
    return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who are you?', requestedSchema: named }) } })
  })

describe.each(['session', '2026-07-28'] as const)('a call (%s)', (protocol) => {
  test('times out without progress, and the server receives a cancellation', async () => {
    const { clock, pass } = handClock()
    const { toolbox, calls } = waiting()
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { clock, protocol })
    const call = failure(connection.call('wait', {}, { timeoutMs: 1_000 }))
    await until(() => calls.length === 1, 'the call')
    pass(999)
    expect(calls[0]?.signal.aborted).toBe(false)
    pass(1)
    expect(await call).toMatchObject({ reason: 'timeout', details: { timeoutMs: 1_000 } })
    await until(() => calls[0]?.signal.aborted === true, 'the cancellation')
  })

  test('restarts its timeout with each progress notification, up to the total timeout', async () => {
    const { clock, pass } = handClock()
    const { toolbox, calls } = waiting()
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { clock, protocol })
    const reports: number[] = []
    const onProgress = ({ progress }: { progress: number }): void => void reports.push(progress)
    const call = failure(connection.call('wait', {}, { timeoutMs: 1_000, maxTimeoutMs: 3_500, onProgress }))
    await until(() => calls.length === 1, 'the call')
    for (const step of [1, 2, 3, 4]) {
      await calls[0]?.progress(step)
      await until(() => reports.length === step, 'the report')
      if (step < 4) pass(900)
    }
    pass(799)
    expect(calls[0]?.signal.aborted).toBe(false)
    pass(1)
    expect(await call).toMatchObject({ reason: 'timeout', details: { timeoutMs: 3_500 } })
  })

  test('can be cancelled, and the server receives a cancellation', async () => {
    const { toolbox, calls } = waiting()
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    const stop = new AbortController()
    const call = failure(connection.call('wait', {}, { signal: stop.signal }))
    await until(() => calls.length === 1, 'the call')
    stop.abort()
    expect(await call).toMatchObject({ reason: 'cancelled' })
    await until(() => calls[0]?.signal.aborted === true, 'the cancellation')
    expect(await failure(connection.call('wait', {}, { signal: stop.signal }))).toMatchObject({ reason: 'cancelled' })
  })

  test('is not sent with invalid arguments, and the error lists every problem', async () => {
    let calls = 0
    const input = z.strictObject({ title: z.string(), labels: z.array(z.string()).optional(), count: z.number().int().min(1) })
    const toolbox = defineToolbox({ name: 'issues', version: '1.0.0' }).tool('create_issue', { inputSchema: input }, () => {
      calls++
      return 'created'
    })
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    const error = await failure(connection.call('create_issue', { titel: 'x', labels: ['a', 7], count: 0 }))
    expect(error).toMatchObject({ reason: 'invalid_arguments', details: { tool: 'create_issue' } })
    expect(error.details).toHaveProperty('problems', [
      { path: 'labels.1', message: 'must be a string, but is an integer' },
      { path: 'count', message: 'must be at least 1' },
      { path: 'title', message: 'is required; found "titel"' },
      { path: 'titel', message: 'is not a known property. Nearest: title' },
    ])
    expect(calls).toBe(0)
    expect((await connection.call('create_issue', { titel: 'x' }, { validate: false })).isError).toBe(true)
    expect(await failure(connection.call('create_isue', {}))).toMatchObject({
      reason: 'unknown_tool',
      details: { name: 'create_isue', nearest: ['create_issue'] },
    })
    expect((await connection.call('create_issue', { title: 'x', count: 1 })).content).toEqual([{ type: 'text', text: 'created' }])
  })

  test('forwards elicitation to the user, which suspends the timeout', async () => {
    const { clock, pass } = handClock()
    const toolbox = asking()
    await using http = await serveToolbox(toolbox)
    const asked: Elicitation[] = []
    await using connection = await connect(
      { url: http.url },
      {
        clock,
        protocol,
        elicit: async (question) => {
          asked.push(question)
          pass(5_000)
          return { action: 'accept', content: { name: 'Ada' } }
        },
      },
    )
    const result = await connection.call('greet', {}, { timeoutMs: 1_000, maxTimeoutMs: 60_000 })
    expect(result.content).toEqual([{ type: 'text', text: 'Hello Ada' }])
    expect(asked).toEqual([
      { mode: 'form', message: 'Who are you?', schema: expect.objectContaining({ type: 'object', required: ['name'] }) },
    ])
    await using silent = await connect({ url: http.url }, { protocol })
    const refused = await silent.call('greet').catch((error: unknown) => error)
    expect(refused).toMatchObject(protocol === 'session' ? { isError: true } : { reason: 'protocol', details: { code: -32_021 } })
  })

  test('validates structured output against the output schema', async () => {
    const weather = z.object({ degrees: z.number() })
    const toolbox = defineToolbox({ name: 'weather', version: '1.0.0' }).tool('right', { outputSchema: weather }, () => ({
      degrees: 7,
    }))
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    expect(await connection.call('right')).toMatchObject({
      structuredContent: { degrees: 7 },
      isError: false,
      outputProblems: [],
    })
  })
})

test('output that does not match the output schema is returned with its problems', async () => {
  await using connection = await connect(server('liar.mjs'))
  const { structuredContent, outputProblems } = await connection.call('wrong')
  expect(structuredContent).toEqual({ degrees: 'warm' })
  expect(outputProblems).toEqual([{ path: 'degrees', message: 'must be a number, but is a string' }])
  expect((await connection.call('missing')).outputProblems).toEqual([
    { path: '', message: 'is missing, but the tool has an output schema' },
  ])
})

test('elicitation works with a server built on the first SDK', async () => {
  await using connection = await connect(server('one.mjs'), {
    elicit: async () => ({ action: 'accept', content: { name: 'Ada' } }),
  })
  expect((await connection.call('ask')).content).toEqual([{ type: 'text', text: 'Hello Ada' }])
  await using other = await connect(server('one.mjs'), { elicit: async () => ({ action: 'decline' }) })
  expect((await other.call('ask')).content).toEqual([{ type: 'text', text: 'decline' }])
})

test('a call that requires a URL visit is repeated after the visit', async () => {
  const asked: Elicitation[] = []
  await using connection = await connect(server('one.mjs'), {
    elicit: async (question) => {
      asked.push(question)
      return { action: 'accept' }
    },
  })
  expect((await connection.call('visit')).content).toEqual([{ type: 'text', text: 'thank you' }])
  expect(asked).toEqual([{ mode: 'url', message: 'Sign in', url: 'https://example.com/sign-in' }])
  await using unwilling = await connect(server('one.mjs'), { elicit: async () => ({ action: 'decline' }) })
  expect(await failure(unwilling.call('visit'))).toMatchObject({ reason: 'protocol', details: { code: -32_042 } })
})

test('elicitations are handled one at a time', async () => {
  let open = 0
  let most = 0
  const toolbox = asking()
  await using connection = await connect(
    { server: toolbox },
    {
      protocol: 'session',
      elicit: async () => {
        open++
        most = Math.max(most, open)
        await new Promise((resolve) => setTimeout(resolve, 20))
        open--
        return { action: 'decline' }
      },
    },
  )
  await Promise.all([connection.call('greet'), connection.call('greet'), connection.call('greet')])
  expect(most).toBe(1)
})

test('log messages of the server are reported', async () => {
  const log: unknown[] = []
  await using connection = await connect(server('two.mjs'), { protocol: 'session', onLog: (entry) => void log.push(entry) })
  await connection.call('log')
  await until(() => log.length === 1, 'the log')
  expect(log).toEqual([expect.objectContaining({ level: 'warning', data: 'be careful' })])
})

test('large and binary parts of a result are saved to files with safe names and replaced by links', async () => {
  const directory = join(tmpdir(), `unfold-results-${crypto.randomUUID()}`)
  const png = Buffer.from('89504e470d0a1a0a', 'hex')
  const toolbox = defineToolbox({ name: 'files', version: '1.0.0' }).tool('many', {}, () => ({
    content: [
      { type: 'text' as const, text: 'short' },
      { type: 'text' as const, text: 'l'.repeat(2_000) },
      { type: 'image' as const, data: png.toString('base64'), mimeType: 'image/png' },
      {
        type: 'resource' as const,
        resource: { uri: 'x://../../etc/passwd', blob: png.toString('base64'), mimeType: '../../sh' },
      },
    ],
    structuredContent: { much: 's'.repeat(2_000) },
  }))
  await using connection = await connect({ server: toolbox })
  const { content, files, structuredContent } = await connection.call('many', {}, { saveTo: { directory, above: 1_000 } })
  expect(content[0]).toEqual({ type: 'text', text: 'short' })
  expect(files.map(({ mimeType, bytes, part }) => [mimeType, bytes, part])).toEqual([
    ['text/plain', 2_000, 1],
    ['image/png', 8, 2],
    ['../../sh', 8, 3],
    ['application/json', 2_011, 'structured'],
  ])
  expect(structuredContent).toBeUndefined()
  expect(files.map(({ path }) => path.replace(/-[0-9a-f]{8}\./u, '.').slice(directory.length + 1))).toEqual([
    'many.txt',
    'many.png',
    'many.bin',
    'many.json',
  ])
  const link = content[2]
  if (link?.type !== 'resource_link') throw new Error('The image should be a link.')
  expect(await readFile(fileURLToPath(link.uri))).toEqual(png)
  await rm(directory, { recursive: true, maxRetries: 10, retryDelay: 100 })
})

test('a tool is described by the server, or from its definition', async () => {
  const toolbox = defineToolbox({
    name: 'described',
    version: '1.0.0',
    groups: { files: { description: 'Files' } },
    hiddenCalls: 'hint',
  }).tool(
    'read_file',
    { group: 'files', description: 'Reads a file', readOnly: true, inputSchema: z.object({ path: z.string() }) },
    ({ path }) => path,
  )
  await using connection = await connect({ server: toolbox }, { protocol: 'session' })
  expect((await connection.tools()).map(({ name }) => name)).not.toContain('read_file')
  expect(await connection.describe('read_file')).toMatchObject({
    by: 'server',
    group: 'files',
    facet: 'read-only',
    listed: false,
  })
  expect(await failure(connection.describe('read_fil'))).toMatchObject({
    reason: 'unknown_tool',
    details: { nearest: ['read_file'] },
  })
  await using one = await connect(server('one.mjs'))
  expect(await one.describe('echo')).toMatchObject({ by: 'client', listed: true, examples: [{ message: 'text' }] })
  expect(await failure(one.describe('eco'))).toMatchObject({ reason: 'unknown_tool', details: { nearest: ['echo'] } })
})

test('an outdated schema is read again before arguments are rejected', async () => {
  await using connection = await connect(server('two.mjs'), { protocol: 'session' })
  expect(await failure(connection.call('later', {}))).toMatchObject({ reason: 'unknown_tool' })
  await connection.call('add', { name: 'later' })
  expect((await connection.call('later', {})).content).toEqual([{ type: 'text', text: 'later' }])
})
