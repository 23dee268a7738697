import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { ScriptCall, ScriptLimits, ScriptMachine, ScriptTurn } from '../engine.ts'
import { packageVersion, quickJsEngine } from './engine.ts'
import { harness } from './harness.ts'

const limits: ScriptLimits = {
  cpuMs: 10_000,
  wallMs: 120_000,
  memoryBytes: 32 * 1_048_576,
  calls: 100,
  outputCharacters: 1_000,
  resultBytes: 10_000,
}

const engine = quickJsEngine({ workers: 2, queue: 1 })
afterAll(() => engine[Symbol.asyncDispose]())

const machines: ScriptMachine[] = []
afterEach(() => {
  for (const machine of machines.splice(0)) machine.close()
})

async function open(given: Partial<ScriptLimits> = {}, { signal } = new AbortController()): Promise<ScriptMachine> {
  const machine = await engine.open({ limits: { ...limits, ...given }, signal })
  machines.push(machine)
  return machine
}

/** Runs a script whose calls all succeed with what `answer` returns. */
async function run(
  source: string,
  answer: (call: ScriptCall) => unknown = () => undefined,
  input?: unknown,
): Promise<ScriptTurn> {
  const machine = await open()
  let turn = await machine.start({ source, input })
  while (turn.kind === 'waiting') turn = await machine.settle(turn.calls.map((call) => ({ id: call.id, value: answer(call) })))
  return turn
}

const value = async (source: string, answer?: (call: ScriptCall) => unknown, input?: unknown): Promise<unknown> => {
  const turn = await run(source, answer, input)
  return turn.kind === 'returned' ? turn.value : turn
}

const callsOf = (turn: ScriptTurn): readonly ScriptCall[] => (turn.kind === 'waiting' ? turn.calls : [])
const namesOf = (turn: ScriptTurn): readonly string[] => callsOf(turn).map(({ name }) => name)

describe('a script', () => {
  test('gets its input and returns JSON', async () => {
    const source =
      'return { sum: input.numbers.reduce((a, b) => a + b), set: new Set([1]), map: new Map([["a", 1]]), gone: undefined }'
    expect(await value(source, undefined, { numbers: [1, 2, 3] })).toEqual({ sum: 6, set: [1], map: [['a', 1]] })
    expect(await value('')).toBeUndefined()
  })

  test('calls tools by path or by name, searches and describes', async () => {
    const turn = await (await open()).start({
      source: `const all = [tools.github.create_issue({ title: 'a' }), tools.ping(),
  tools['any name']({}), search('mail', { limit: 2 }), describe(['ping'])]
await Promise.all(all)`,
    })
    expect(callsOf(turn)).toEqual([
      { id: 1, kind: 'tool', name: 'github.create_issue', arguments: { title: 'a' }, line: 1 },
      { id: 2, kind: 'tool', name: 'ping', arguments: {}, line: 1 },
      { id: 3, kind: 'tool', name: 'any name', arguments: {}, line: 2 },
      { id: 4, kind: 'search', name: 'search', arguments: { limit: 2, query: 'mail' }, line: 2 },
      { id: 5, kind: 'describe', name: 'describe', arguments: { names: ['ping'] }, line: 2 },
    ])
  })

  test('goes on when some of its calls are settled, and each turn has all that are outstanding', async () => {
    const machine = await open()
    const first = await machine.start({
      source: 'const a = tools.a(); const b = tools.b(); await a; const c = tools.c(); return [await a, await b, await c]',
    })
    expect(namesOf(first)).toEqual(['a', 'b'])
    const second = await machine.settle([{ id: 1, value: 'A' }])
    expect(namesOf(second)).toEqual(['b', 'c'])
    // Unknown and settled ids are ignored.
    await machine.settle([
      { id: 1, value: 'again' },
      { id: 99, value: 'unknown' },
    ])
    expect(
      await machine.settle([
        { id: 2, value: 'B' },
        { id: 3, value: 'C' },
      ]),
    ).toMatchObject({ value: ['A', 'B', 'C'] })
  })

  test('makes calls that it does not await, before it returns', async () => {
    const machine = await open()
    expect(namesOf(await machine.start({ source: 'tools.notify({}); return "done"' }))).toEqual(['notify'])
    expect(await machine.settle([{ id: 1, value: null }])).toMatchObject({ kind: 'returned', value: 'done' })
  })

  test('can catch a failed call, with its reason, tool and data', async () => {
    const machine = await open()
    await machine.start({
      source: `try { await tools.mail.send() } catch (error) {
  return [error instanceof ToolError, error.name, error.message, error.reason, error.tool, error.data]
}`,
    })
    const error = { message: 'No recipient.', reason: 'invalid_arguments', data: { field: 'to' } }
    expect(await machine.settle([{ id: 1, error }])).toMatchObject({
      value: [true, 'ToolError', 'No recipient.', 'invalid_arguments', 'mail.send', { field: 'to' }],
    })
  })

  test.each([
    [
      'an uncaught error',
      'const a = 1\n  missing()',
      { name: 'ReferenceError', message: 'missing is not defined', line: 2, column: 3 },
    ],
    ['an error in the first line', 'null.x', { name: 'TypeError', line: 1, column: 1 }],
    ['an error in a function', 'function f() {\n  throw new RangeError("far")\n}\nf()', { message: 'far', line: 2, column: 13 }],
    ['an error after a call', 'await tools.x()\nnull.x', { line: 2 }],
    ['a syntax error', 'const a = 1\nconst = 2', { name: 'SyntaxError', line: 2, column: 7 }],
    ['a missing brace', 'if (true) {\n', { name: 'SyntaxError', message: 'unexpected end of the script', line: 2 }],
    [
      'invalid arguments',
      '\ntools.x(1)\nawait tools.y(1)',
      { name: 'TypeError', message: 'y takes one object with its arguments', line: 3 },
    ],
    ['a result without JSON', '\nreturn 1n', { name: 'TypeError' }],
    ['a promise that nothing settles', 'await new Promise(() => {})', { message: expect.stringContaining('nothing settles') }],
  ])('ends with %s, and with its position', async (_, source, error) => {
    expect(await run(source)).toMatchObject({ kind: 'threw', error })
  })

  test('shows the position of a failed call that it does not catch', async () => {
    const machine = await open()
    await machine.start({ source: 'const id = 1\nawait tools.pay({ id })' })
    const turn = await machine.settle([{ id: 1, error: { message: 'No money.', reason: 'tool_failed' } }])
    expect(turn).toMatchObject({ kind: 'threw', error: { name: 'ToolError', message: 'No money.', line: 2 } })
  })

  test('prints lines, which are cut at the limit', async () => {
    const { output } = await run(
      'console.log("a", { b: 1 }, [2], undefined, 3n, new TypeError("c")); console.error(new Map([[1, 2]]))',
    )
    expect(output).toEqual(['a {"b":1} [2] undefined 3n TypeError: c', '[[1,2]]'])
    const long = await run('for (let i = 0; i < 30; i++) console.log("x".repeat(99))')
    expect(long.output.join('\n').length).toBeLessThan(1_100)
    expect(long.output.at(-1)).toContain('[output cut: limit of 1000 characters]')
  })

  test('has a fixed time and seeded random numbers', async () => {
    const source = 'return [Date.now(), new Date().getTimezoneOffset(), Math.random(), Math.random()]'
    const results = []
    for (const seed of [1, 1, 2]) results.push(await (await open()).start({ source, seed, startedAt: 1_700_000_000_000 }))
    expect(results[0]).toEqual(results[1])
    expect(results[0]).not.toEqual(results[2])
    expect(results[0]).toMatchObject({ value: [1_700_000_000_000, 0, expect.any(Number), expect.any(Number)] })
  })
})

describe('the engine', () => {
  test('names the package that is installed', () => {
    const manifest = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/package.json'), 'utf8')
    expect(JSON.parse(manifest)).toMatchObject({ version: packageVersion })
    expect(engine.version).toContain(packageVersion)
  })

  test('lets scripts wait for a worker, rejects those beyond the queue, and takes in the next when one ends', async () => {
    const [first, second] = [await open(), await open()]
    const third = open()
    await expect(open()).rejects.toMatchObject({ reason: 'script_unavailable' })
    first.close()
    second.close()
    expect(await (await third).start({ source: 'return 1' })).toMatchObject({ value: 1 })
  })

  test('a holder gets no more than its share of the workers', async () => {
    await using shared = quickJsEngine({ workers: 4, queue: 4 })
    const { signal } = new AbortController()
    const openFor = (holder: string): Promise<ScriptMachine> => shared.open({ limits, signal, holder: [holder] })
    for (let count = 0; count < 3; count++) await openFor('ann')
    let isOpen = false
    const fourth = openFor('ann').then(
      () => {
        isOpen = true
      },
      () => undefined,
    )
    expect(await (await openFor('ben')).start({ source: 'return "ben"' })).toMatchObject({ value: 'ben' })
    expect(isOpen).toBe(false)
    await shared[Symbol.asyncDispose]()
    await fourth
  })

  test('cancels: a queued script, a waiting one and a running one', async () => {
    const controller = new AbortController()
    const running = await open({}, controller)
    const waiting = await open({}, controller)
    const queued = open({}, controller)
    await waiting.start({ source: 'await tools.x()' })
    const endless = running.start({ source: 'for (;;);' })
    controller.abort()
    const settled = await Promise.allSettled([queued, endless, waiting.settle([])])
    for (const each of settled) expect(each).toMatchObject({ status: 'rejected', reason: { reason: 'call_cancelled' } })
    expect(waiting.ended.aborted).toBe(true)
  })

  test('reuses a worker, and ends it when it is idle', async () => {
    await using small = quickJsEngine({ workers: 1, idleMs: 200 })
    const started: Worker[] = []
    let ended = 0
    const observe = (worker: Worker): void => {
      started.push(worker)
      worker.once('exit', () => ended++)
    }
    process.on('worker', observe)
    try {
      for (let round = 0; round < 3; round++) {
        const machine = await small.open({ limits, signal: new AbortController().signal })
        expect(await machine.start({ source: 'return 1' })).toMatchObject({ value: 1 })
      }
      expect(started.length).toBeLessThan(3)
      await expect.poll(() => ended).toBe(started.length)
    } finally {
      process.off('worker', observe)
    }
  })
})

describe('a snapshot', () => {
  const source = `const key = 'k' + Math.random()
const rows = await tools.db.rows({ limit: 3 })
const notes = []
const later = tools.mail.send({ to: rows[0].name }).then((id) => notes.push(id))
const other = tools.mail.log({ key })
await later
console.log('sent', Date.now())
return { rows, notes, other: await other, key, random: Math.random() }`
  const rows = [{ name: 'Ann' }, { name: 'Ben' }]
  const start = { source, seed: 7, startedAt: 1_000 }
  const outcomes = [
    { id: 2, value: 'm1' },
    { id: 3, value: true },
  ]

  async function paused(): Promise<ScriptMachine> {
    const machine = await open()
    await machine.start(start)
    await machine.settle([{ id: 1, value: rows }])
    return machine
  }

  test('continues in another machine as if it had not been interrupted, without repeating a call', async () => {
    const machine = await paused()
    const snapshot = await machine.snapshot()
    const expected = await machine.settle(outcomes)
    expect(snapshot.length).toBeLessThan(10_000)
    const other = await open()
    const turn = await other.restore(snapshot)
    expect(callsOf(turn)).toEqual([
      { id: 2, kind: 'tool', name: 'mail.send', arguments: { to: 'Ann' }, line: 4 },
      { id: 3, kind: 'tool', name: 'mail.log', arguments: { key: expect.any(String) }, line: 5 },
    ])
    expect(other.cpuMs).toBeGreaterThan(0)
    expect(await other.settle(outcomes)).toEqual(expected)
    expect(expected).toMatchObject({ value: { rows, notes: ['m1'] }, output: ['sent 1000'] })
  })

  test('continues in another process', async () => {
    const machine = await paused()
    const snapshot = Buffer.from(await machine.snapshot()).toString('base64')
    const expected = await machine.settle(outcomes)
    const program = fileURLToPath(new URL('../../../test/restore-script.mjs', import.meta.url))
    const settings = {
      harness,
      version: engine.version,
      limits,
      outcomes: JSON.stringify(outcomes.map(({ id, value }) => [id, 1, value])),
    }
    const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(settings), snapshot])
    expect(JSON.parse(stdout)).toEqual(expected)
  })

  test('counts the calls and the CPU time of before', async () => {
    const machine = await open({ calls: 3 })
    await machine.start({ source: 'for (let i = 0; i < 1e5; i++);\nfor (;;) await tools.x()' })
    await machine.settle([{ id: 1, value: 1 }])
    const { cpuMs } = machine
    const snapshot = await machine.snapshot()
    const other = await open({ calls: 3 })
    await other.restore(snapshot)
    expect(other.cpuMs).toBeGreaterThanOrEqual(cpuMs)
    await other.settle([{ id: 2, value: 1 }])
    await expect(other.settle([{ id: 3, value: 1 }])).rejects.toMatchObject({ details: { limit: 'calls' } })
  })
})
