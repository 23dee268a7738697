import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { confirmed, type Reply, scriptHandler, statelessCaller, textOf } from '../../../test/script-client.ts'
import type { CodeOptions } from '../../catalog/code-options.ts'
import type { ScriptEngine } from '../../scripts/engine.ts'
import { quickJsEngine } from '../../scripts/quickjs/engine.ts'
import { memoryScriptStore, type ScriptStore } from '../../stores/script-store.ts'
import { defineToolbox } from '../../toolbox.ts'
import type { Handler } from '../../transports/handler.ts'

const secret = randomBytes(32)
const engine = quickJsEngine({ workers: 2 })
/** Closed once for all processes. */
const shared: ScriptEngine = {
  version: engine.version,
  open: (options) => engine.open(options),
  [Symbol.asyncDispose]: async () => undefined,
}
afterAll(() => engine[Symbol.asyncDispose]())

const created: string[] = []
const open: { handler: Handler; close: () => Promise<void> }[] = []

interface Process {
  readonly store?: ScriptStore
  readonly description?: string
  readonly code?: Partial<CodeOptions>
  /** Runs before the tool returns. */
  readonly during?: (title: string) => Promise<void>
}

/** One process of a server. */
function startProcess({ store = memoryScriptStore(), description = 'Create', code, during }: Process = {}) {
  const toolbox = defineToolbox({
    name: 'shop',
    version: '1.0.0',
    exposure: 'code',
    code: { secret, store, engine: async () => shared, ...code },
  })
    .tool('create', { description, inputSchema: z.object({ title: z.string() }) }, async ({ title }) => {
      created.push(title)
      await during?.(title)
      return { title }
    })
    .tool('read', { annotations: { readOnlyHint: true } }, () => {
      created.push('read')
      return 'x'.repeat(100)
    })
  const handler = scriptHandler(toolbox)
  open.push({ handler, close: () => toolbox.close() })
  return handler
}

beforeEach(() => {
  created.length = 0
})
afterEach(async () => {
  for (const { handler, close } of open.splice(0)) {
    await handler.close()
    await close()
  }
})

const code = `await tools.read()
const before = Math.random()
await tools.create({ title: 'a' })
return { same: before === before, now: Date.now() > 0 }`
const ann = { principal: { id: 'ann' } }

async function paused(handler: Handler, source = code): Promise<Reply> {
  const reply = await statelessCaller(handler, ann)('run_code', { code: source })
  expect(reply.resultType).toBe('input_required')
  return reply
}

const resume = (
  handler: Handler,
  requestState: string | undefined,
  { source = code, principal = ann.principal, decision = 'Run these calls' } = {},
) => statelessCaller(handler, { principal })('run_code', { code: source }, { requestState, inputResponses: confirmed(decision) })

const rejected = { isError: true, _meta: { 'io.github.unfold-mcp/reason': 'script_state_rejected' } }

test('AT-K46-1: a paused script continues in another process with the secret, and repeats no call', async () => {
  const { requestState } = await paused(startProcess())
  const reply = await resume(startProcess(), requestState)
  expect(JSON.parse(textOf(reply))).toEqual({ same: true, now: true })
  expect(created).toEqual(['read', 'a'])
})

test('a client that repeats the request without an answer is asked again', async () => {
  const handler = startProcess()
  const { requestState } = await paused(handler)
  const again = await statelessCaller(handler, ann)('run_code', { code }, { requestState })
  expect(again).toMatchObject({ resultType: 'input_required', requestState })
  expect(textOf(await resume(handler, requestState))).toContain('same')
})

describe('a state that cannot be used is rejected, and runs nothing', () => {
  test('AT-S15-1: altered, at any place', async () => {
    const handler = startProcess()
    const { requestState = '' } = await paused(handler)
    const places = [0, 7, 8, 30, 60, 100, requestState.length >> 1, requestState.length - 1]
    for (const place of places) {
      const letter = requestState[place] === 'A' ? 'B' : 'A'
      const altered = `${requestState.slice(0, place)}${letter}${requestState.slice(place + 1)}`
      const reply = await resume(handler, altered)
      // Without the prefix it is not a state of a script, so the script starts again and asks.
      expect(reply).toMatchObject(place < 7 ? { resultType: 'input_required' } : rejected)
    }
    for (const altered of [requestState.slice(0, -8), `${requestState}AAAA`, 'script.', 'script-handle.', 'script-handle.AAAA'])
      expect(await resume(handler, altered)).toMatchObject(rejected)
    expect(created).not.toContain('a')
  })

  test('AT-S15-2: of another caller', async () => {
    const handler = startProcess()
    const { requestState } = await paused(handler)
    expect(await resume(handler, requestState, { principal: { id: 'bob' } })).toMatchObject(rejected)
    expect(created).toEqual(['read'])
    expect(textOf(await resume(handler, requestState))).toContain('same')
  })

  test('AT-S15-3: with another script', async () => {
    const handler = startProcess()
    const { requestState } = await paused(handler)
    expect(await resume(handler, requestState, { source: `${code} ` })).toMatchObject(rejected)
    expect(created).toEqual(['read'])
  })

  test('AT-S15-4: used before, also at the same time', async () => {
    const handler = startProcess()
    const { requestState } = await paused(handler)
    const replies = await Promise.all([1, 2, 3].map(() => resume(handler, requestState)))
    expect(replies.filter(({ isError }) => isError === true)).toHaveLength(2)
    const late = await resume(handler, requestState)
    expect(late).toMatchObject(rejected)
    expect(textOf(late)).toContain('read({}), line 1: done')
    expect(created).toEqual(['read', 'a'])
  })

  test('AT-S15-5: used before in another process with the same store', async () => {
    const store = memoryScriptStore()
    const { requestState } = await paused(startProcess({ store }))
    await resume(startProcess({ store }), requestState)
    expect(await resume(startProcess({ store }), requestState)).toMatchObject(rejected)
    expect(created).toEqual(['read', 'a'])
  })

  test('AT-S15-6: expired', async () => {
    const handler = startProcess({ code: { limits: { answerMs: 1 } } })
    const { requestState } = await paused(handler)
    await expect.poll(async () => textOf(await resume(handler, requestState))).toContain('expired')
    expect(created).toEqual(['read'])
  })

  test('AT-S15-7: of another engine', async () => {
    const other: ScriptEngine = { ...shared, version: 'another' }
    const { requestState } = await paused(startProcess({ code: { engine: async () => other } }))
    const reply = await resume(startProcess(), requestState)
    expect(textOf(reply)).toContain('another version of the script engine')
  })

  test('AT-S15-8: of a tool that changed meanwhile', async () => {
    const { requestState } = await paused(startProcess())
    const reply = await resume(startProcess({ description: 'Create and send to everyone' }), requestState)
    expect(textOf(reply)).toContain('"create" is no longer the one')
    expect(created).toEqual(['read'])
  })

  test('AT-S15-9: of a server with another secret', async () => {
    const { requestState } = await paused(startProcess())
    expect(await resume(startProcess({ code: { secret: randomBytes(32) } }), requestState)).toMatchObject(rejected)
  })
})

test('AT-S15-10: nothing of the script, its values or the calls can be read from the state', async () => {
  const source = `const password = 'correct-horse'; await tools.create({ title: 'hidden-title' }); return password`
  const { requestState = '' } = await paused(startProcess(), source)
  const bytes = Buffer.from(requestState.slice('script.'.length), 'base64url').toString('latin1')
  for (const word of ['correct-horse', 'hidden-title', 'create', 'ann']) expect(bytes).not.toContain(word)
})

test('a large state stays on the server, and a handle travels', async () => {
  const store = memoryScriptStore()
  const source = `let big = ''
    for (let i = 0; i < 40000; i++) big += String.fromCharCode(33 + Math.floor(Math.random() * 90))
    await tools.create({ title: 'b' })
    return big.length`
  const { requestState = '' } = await paused(startProcess({ store }), source)
  expect(requestState.length).toBeLessThan(100)
  expect(await resume(startProcess(), requestState, { source })).toMatchObject(rejected)
  expect(textOf(await resume(startProcess({ store }), requestState, { source }))).toBe('40000')
})

describe('a process that dies while it continues a script', () => {
  /** A store of a process that can die: then nobody counts it as running. */
  function mortal(base: ScriptStore, name: string, dead: ReadonlySet<string>): ScriptStore {
    return { ...base, process: name, isRunning: (other) => !dead.has(other) }
  }

  test('AT-S15-11: its calls are not repeated, and the script learns which effect is unknown', async () => {
    const base = memoryScriptStore()
    const dead = new Set<string>()
    const source = `const done = []
      await tools.create({ title: 'first' }).then(() => done.push('first'), (error) => done.push(error.reason))
      await tools.create({ title: 'second' }).then(() => done.push('second'), (error) => done.push(error.reason))
      await tools.create({ title: 'third' }).then(() => done.push('third'), (error) => done.push(error.reason))
      return done`
    const more = 'Run these, and further calls of these tools in this script'
    const store = mortal(base, 'one', dead)
    // The second call is sent and never returns, as if the process died.
    const first = startProcess({
      store,
      during: (title) => (title === 'second' ? new Promise(() => undefined) : Promise.resolve()),
    })
    const { requestState } = await paused(first, source)
    void resume(first, requestState, { source, decision: more }).catch(() => undefined)
    await expect.poll(() => created).toEqual(['first', 'second'])
    const second = startProcess({ store: mortal(base, 'two', dead) })
    // While it may still run, nobody else continues.
    expect(await resume(second, requestState, { source, decision: more })).toMatchObject(rejected)
    dead.add('one')
    const reply = await resume(second, requestState, { source, decision: more })
    expect(JSON.parse(textOf(reply))).toEqual(['first', 'effect_unknown', 'third'])
    expect(created).toEqual(['first', 'second', 'third'])
    expect(await resume(second, requestState, { source, decision: more })).toMatchObject(rejected)
  })
})
