import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { quickJsEngine, type ScriptLimits, type ScriptMachine, type ScriptTurn } from '@unfold-mcp/server/scripts'
import { afterAll, afterEach, describe, expect, test } from 'vitest'

const limits: ScriptLimits = {
  cpuMs: 100,
  // Time spent waiting for a busy processor must not end a script here.
  wallMs: 240_000,
  memoryBytes: 16 * 1_048_576,
  calls: 50,
  outputCharacters: 1_000,
  resultBytes: 10_000,
}

const engine = quickJsEngine({ workers: 2 })
afterAll(() => engine[Symbol.asyncDispose]())

const machines: ScriptMachine[] = []
afterEach(() => {
  for (const machine of machines.splice(0)) machine.close()
})

async function open(given: Partial<ScriptLimits> = {}): Promise<ScriptMachine> {
  const machine = await engine.open({ limits: { ...limits, ...given }, signal: new AbortController().signal })
  machines.push(machine)
  return machine
}

const start = async (source: string, given: Partial<ScriptLimits> = {}): Promise<ScriptTurn> =>
  (await open(given)).start({ source })

async function resultOf(source: string): Promise<unknown> {
  const turn = await start(source)
  return turn.kind === 'returned' ? turn.value : turn
}

/** Runs a script that must end with a limit, after which the engine must run the next script. */
async function expectStopped(source: string, limit: string, given: Partial<ScriptLimits> = {}): Promise<void> {
  await expect(start(source, given)).rejects.toMatchObject({ reason: 'script_limit', details: { limit } })
  expect(await resultOf('return "next"')).toBe('next')
}

describe('AT-K01: an endless loop ends at the CPU limit', () => {
  test.each([
    ['for', 'for (;;);'],
    ['after a call of a function', 'const spin = () => { for (;;); }; [1].map(spin)'],
    ['of generators', 'function* all() { for (;;) yield 1 } for (const each of all());'],
    ['in a comparison', '[3, 2, 1].sort(() => { for (;;); })'],
    ['in a template tag, a getter and a destructuring', 'const { a } = { get a() { for (;;); } }'],
    ['of jobs', 'const next = () => { Promise.resolve().then(next) }; next(); await new Promise(() => {})'],
    ['that catches everything', 'for (;;) try { for (;;); } catch {} finally { continue }'],
    ['inside promises, which catch what their function throws', 'for (;;) new Promise(() => { for (;;); }).catch(() => {})'],
  ])('%s', (_, source) => expectStopped(source, 'cpu'))

  test('and what it printed is not lost', async () => {
    const machine = await open()
    await expect(machine.start({ source: 'console.log("before"); for (;;);' })).rejects.toThrow('CPU time')
    expect(machine.unreadOutput).toEqual(['before'])
    expect(machine.cpuMs).toBeGreaterThanOrEqual(limits.cpuMs)
  })
})

describe('AT-K02: a slow regular expression ends at the CPU limit', () => {
  test.each([
    ['nested repetition', `/^(a+)+$/.test('a'.repeat(40) + 'b')`],
    ['in a replacement', `'x'.repeat(60).replace(/(x+x+)+y/g, '')`],
    ['alternatives', `/^(?:a|aa|a?)+$/.test('a'.repeat(60) + '!')`],
  ])('%s', (_, source) => expectStopped(source, 'cpu'))
})

describe('AT-K03: memory ends at its limit', () => {
  test.each([
    ['strings', 'let text = "x"; for (;;) text += text + text.length'],
    ['arrays', 'const all = []; for (;;) all.push({ a: [1, 2, 3] })'],
    ['one buffer', 'return new ArrayBuffer(1e9).byteLength'.replace('return', 'const size =')],
    ['many buffers', 'const all = []; for (;;) all.push(new Uint8Array(100000).fill(1))'],
    ['map and set', 'const all = new Map(); for (let i = 0; ; i++) all.set(i, new Set([i]))'],
    ['closures', 'let next = () => 1; for (;;) { const last = next; next = () => [last, last.name] }'],
    ['a text with a length of 2^30', 'const text = "x".repeat(2 ** 29)'],
  ])('%s', (_, source) =>
    start(source, { cpuMs: 60_000 }).then(
      (turn) =>
        expect(turn).toMatchObject({ kind: 'threw', error: { name: expect.stringMatching(/RangeError|InternalError/u) } }),
      (error: unknown) => expect(error).toMatchObject({ reason: 'script_limit', details: { limit: 'memory' } }),
    ),
  )

  test('and is released', async () => {
    const before = process.memoryUsage().rss
    for (let round = 0; round < 12; round++)
      await expect(
        start('const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))', { cpuMs: 60_000, memoryBytes: 64 * 1_048_576 }),
      ).rejects.toThrow('memory')
    // 768 MiB in total.
    await expect.poll(() => process.memoryUsage().rss - before).toBeLessThan(300 * 1_048_576)
  })

  test('input and results of calls count too', async () => {
    const machine = await open()
    const input = 'x'.repeat(12 * 1_048_576)
    await expect(machine.start({ source: 'return input.length', input })).rejects.toMatchObject({ details: { limit: 'memory' } })
    const other = await open()
    await other.start({ source: 'return (await tools.x()).length' })
    await expect(other.settle([{ id: 1, value: input }])).rejects.toMatchObject({ details: { limit: 'memory' } })
  })
})

describe('AT-K04: deep recursion ends the script only', () => {
  test.each([
    ['of a function', 'const dive = () => 1 + dive(); dive()'],
    ['of a getter', 'const a = { get b() { return this.b } }; a.b'],
    ['of a proxy', 'let proxy = {}; for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {}); proxy.x'],
    ['in JSON.parse', 'JSON.parse("[".repeat(1e6))'],
    ['in JSON.stringify', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)'],
    ['in the result', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a'],
    ['in a conversion to text', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)'],
    ['in flat', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)'],
    ['of bound functions', 'let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); f()'],
    ['of a regular expression', 'new RegExp("(".repeat(1e5) + ")".repeat(1e5))'],
    ['in the source', `return ${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['of prefixes in the source', `return ${'!'.repeat(100_000)}1`],
  ])('%s', async (_, source) => {
    const outcome = await start(source, { cpuMs: 60_000, memoryBytes: 64 * 1_048_576 }).then(
      (turn) => (turn.kind === 'threw' ? turn.error.name : turn.kind),
      (error: unknown) => (error instanceof Error && 'details' in error ? Object(error.details).limit : error),
    )
    expect(['stack', 'memory', 'SyntaxError']).toContain(outcome)
    expect(await resultOf('return "next"')).toBe('next')
  })

  test('a script may catch it and go on', async () => {
    expect(await resultOf('const dive = () => 1 + dive(); try { dive() } catch (error) { return error.name }')).toBe('RangeError')
  })
})

describe('AT-K05: a native operation that cannot be interrupted ends with its thread, and the main thread is not blocked', () => {
  test.each([
    ['joining an array of holes', `new Array(1e9) + ''`],
    ['searching an array of holes', `new Array(4e9).indexOf(1)`],
    ['reversing an array-like object', `Array.prototype.reverse.call({ length: 2 ** 40 })`],
  ])('%s', async (_, source) => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 10)
    await expectStopped(source, 'cpu')
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(5)
  })
})

describe('AT-K06: a million promises', () => {
  test('that are settled end at the memory limit or in time', async () => {
    const source =
      'const all = []; for (let i = 0; i < 1e6; i++) all.push(new Promise((resolve) => resolve(i))); return (await Promise.all(all)).length'
    await expectStopped(source, 'memory', { cpuMs: 60_000 })
  })

  test('that are never settled end at the memory limit', () =>
    expectStopped(
      'const wait = async () => { await new Promise(() => {}) }; const all = []; for (;;) all.push(wait())',
      'memory',
      { cpuMs: 60_000 },
    ))

  test('of rejections are not reported outside', async () => {
    expect(await resultOf('for (let i = 0; i < 1000; i++) Promise.reject(new Error("x")); return "done"')).toBe('done')
  })
})

describe('AT-K07: patched prototypes and globals change nothing outside the script', () => {
  const patch = `
let calls = ''
const steal = (where) => function () { calls += where + ' ' }
const define = Object.defineProperty
for (const [type, names] of [
  [Array.prototype, ['push', 'join', 'map', 'slice', 'forEach']],
  [String.prototype, ['slice', 'split', 'replace', 'indexOf', 'toString']],
  [Function.prototype, ['call', 'apply', 'bind', 'toString']],
  [Map.prototype, ['get', 'set', 'entries']],
  [Promise.prototype, ['catch', 'finally']],
  [Object, ['keys', 'defineProperty', 'freeze', 'create', 'entries']],
  [Reflect, ['apply', 'get', 'ownKeys']],
  [JSON, ['stringify', 'parse']],
]) for (const name of names) type[name] = steal(String(name))
define(Array.prototype, '0', {
  __proto__: null,
  // JSON.stringify of the engine adds the values that it visits to a list.
  set(value) { if (value.row === undefined) calls += 'setter 0 ' },
  get: () => 'zero',
  configurable: true,
})
for (const name of ['id', 'record', 'resolve', 'value', 'writable', 'get', 'set', 'data', 'limits', 'calls'])
  define(Object.prototype, name, { __proto__: null, set: steal('setter ' + name), get: () => undefined, configurable: true })
Array.prototype[Symbol.iterator] = steal('iterator')
globalThis.Promise = globalThis.Error = globalThis.String = globalThis.Proxy = globalThis.Object = steal('global')
`

  test('calls, output and errors are as without them', async () => {
    const machine = await open()
    const source = `${patch}console.log('a', 1)
const result = await tools.db.read({ row: 1 })
let caught
try { await tools.db.write({ row: 2 }) } catch (error) { caught = error.message }
return { result, caught, calls }`
    expect(await machine.start({ source })).toMatchObject({
      kind: 'waiting',
      output: ['a 1'],
      calls: [{ id: 1, name: 'db.read', arguments: { row: 1 } }],
    })
    expect(await machine.settle([{ id: 1, value: { ok: true } }])).toMatchObject({ calls: [{ id: 2, arguments: { row: 2 } }] })
    const turn = await machine.settle([{ id: 2, error: { message: 'denied', reason: 'tool_failed' } }])
    expect(turn).toMatchObject({ kind: 'returned', value: { result: { ok: true }, caught: 'denied', calls: '' } })
  })

  test('limits stay', () => expectStopped(`${patch}for (;;) tools.x({})`, 'calls'))

  test('keys such as __proto__ arrive as data and pollute nothing', async () => {
    const turn = await start(
      `tools.x(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'))`,
    )
    expect(turn).toMatchObject({ kind: 'waiting' })
    const [call] = turn.kind === 'waiting' ? turn.calls : []
    expect(JSON.stringify(call?.arguments)).toBe('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test.each(['tools', 'search', 'describe', 'console', 'ToolError', 'input', 'eval', 'Function'])(
    'the script cannot replace %s',
    async (name) => {
      const assignment = await start(`${name} = 1`)
      // Assigning to eval is not even valid.
      expect(assignment).toMatchObject({ kind: 'threw', error: { name: name === 'eval' ? 'SyntaxError' : 'TypeError' } })
      expect(await start(`delete globalThis.${name}`)).toMatchObject({ kind: 'threw', error: { name: 'TypeError' } })
      expect(await start(`Object.defineProperty(globalThis, '${name}', { value: 1 })`)).toMatchObject({
        kind: 'threw',
        error: { name: 'TypeError' },
      })
    },
  )

  test('what it gets is frozen', async () => {
    const source = `const changed = []
for (const [name, value] of Object.entries({ search, describe, console, log: console.log, ToolError, proto: ToolError.prototype }))
  if (!Object.isFrozen(value)) changed.push(name)
try { tools.x = 1; changed.push('tools') } catch {}
try { Object.setPrototypeOf(tools, {}); changed.push('prototype') } catch {}
return changed`
    expect(await resultOf(source)).toEqual([])
  })
})

describe('AT-K08: a result above the limit ends the script', () => {
  test.each([
    ['text', 'return "x".repeat(20000)'],
    ['text whose bytes exceed the limit', 'return "ü".repeat(7000)'],
    ['items', 'return Array.from({ length: 10000 }, (_, i) => i)'],
    ['shared parts', 'let a = ["x".repeat(100)]; for (let i = 0; i < 10; i++) a = [a, a]; return a'],
  ])('%s', (_, source) => expectStopped(source, 'result'))
})

describe('AT-K09: output above the limit', () => {
  test('is cut', async () => {
    const { output } = await start('console.log("x".repeat(5000)); return 1')
    expect(output).toHaveLength(1)
    expect(output[0]?.length).toBeLessThan(1_100)
  })

  test('ends the script at ten times the limit', () => expectStopped('for (;;) console.log("x".repeat(100))', 'output'))
  test('counts empty lines', () => expectStopped('for (;;) console.log()', 'output'))
})

describe('AT-K10: too many calls end the script before they are made', () => {
  test.each([
    ['in a loop', 'for (;;) tools.x({})'],
    ['searches', 'for (;;) search("x")'],
    ['in a loop that catches', 'for (;;) try { tools.x({}).catch(() => {}) } catch {}'],
    ['in promises', 'for (;;) new Promise(() => { tools.x({}) })'],
  ])('%s', async (_, source) => {
    const error = await start(source).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ reason: 'script_limit' })
    // A promise catches what interrupts the script: then the CPU limit ends it.
    expect(['calls', 'cpu']).toContain(Object(error).details.limit)
  })

  test('at the same time', () =>
    expectStopped('for (let i = 0; i < 11; i++) tools.x({})', 'parallelCalls', { parallelCalls: 10 }))

  test('one after the other', async () => {
    const machine = await open({ calls: 3 })
    let turn = await machine.start({ source: 'for (;;) await tools.x({})' })
    const settled = []
    const error = await (async () => {
      while (turn.kind === 'waiting') {
        const [call] = turn.calls
        settled.push(call?.id)
        turn = await machine.settle([{ id: call?.id ?? 0, value: 1 }])
      }
    })().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ details: { limit: 'calls', maximum: 3 } })
    expect(settled).toEqual([1, 2, 3])
  })

  test('with huge arguments are rejected in the script', async () => {
    const source = 'try { await tools.x({ text: "x".repeat(5e6) }) } catch (error) { return error.message }'
    const turn = await start(source, { memoryBytes: 64 * 1_048_576, cpuMs: 60_000 })
    expect(turn).toMatchObject({ value: expect.stringContaining('The arguments of the calls that were made at once exceed') })
  })
})

describe('AT-K11: calls that never return', () => {
  test('end with the wall time, also while nothing runs', async () => {
    const machine = await open({ wallMs: 300 })
    const turn = await machine.start({ source: 'await tools.never()' }).catch((error: unknown) => error)
    if (!machine.ended.aborted) await new Promise((resolve) => machine.ended.addEventListener('abort', resolve))
    expect(machine.ended.reason).toMatchObject({ reason: 'script_limit', details: { limit: 'wall', maximum: 300 } })
    await expect(machine.settle([{ id: 1, value: 1 }])).rejects.toMatchObject({ details: { limit: 'wall' } })
    expect(turn).toBeDefined()
  })

  test('a promise that nothing settles is an error of the script', async () => {
    expect(await start('await new Promise(() => {})')).toMatchObject({ kind: 'threw' })
  })
})

describe('AT-K12: an endless loop after a call', () => {
  test.each([
    ['after await', 'await tools.x(); for (;;);'],
    ['in a handler of another promise', 'tools.x().then(() => { for (;;); }); await tools.y()'],
    ['in finally', 'try { await tools.x() } finally { for (;;); }'],
  ])('%s ends at the CPU limit', async (_, source) => {
    const machine = await open()
    await machine.start({ source })
    await expect(machine.settle([{ id: 1, value: 1 }])).rejects.toMatchObject({ details: { limit: 'cpu' } })
  })
})

describe('AT-K13: code that runs while a value is converted ends at the CPU limit', () => {
  const loop = '{ for (;;); }'
  test.each([
    ['toJSON of the result', `return { toJSON() ${loop} }`],
    ['a getter of the result', `return { get a() ${loop} }`],
    ['toJSON of arguments', `await tools.x({ toJSON() ${loop} })`],
    ['a getter of options', `await search('x', { get limit() ${loop} })`],
    ['toJSON of output', `console.log({ toJSON() ${loop} })`],
    ['message of an error', `throw { get message() ${loop} }`],
    ['then of the result', `return { then() ${loop} }`],
    ['toJSON of everything', `Object.prototype.toJSON = () => ${loop}; return {}`],
    ['toString of a thrown value', `throw { message: { toString() ${loop} }, name: 1, get stack() ${loop} }`],
  ])('%s', (_, source) => expectStopped(source, 'cpu'))
})

describe('AT-K14: proxies as values', () => {
  test.each([
    ['a result', 'return new Proxy({ a: 1 }, { get: (target, key) => (key === "a" ? 2 : undefined) })', { a: 2 }],
    ['a list', 'return new Proxy([1, 2], {})', [1, 2]],
    ['the tools', 'return { tools, tool: tools.x }', {}],
    ['awaited tools', 'return typeof (await tools.x)', 'function'],
    ['a tool as text', 'return String(tools.github.star)', '[tool github.star]'],
  ])('%s', async (_, source, expected) => expect(await resultOf(source)).toEqual(expected))

  test('that throw end the script with their error', async () => {
    const turn = await start('return new Proxy({}, { ownKeys() { throw new Error("no keys") } })')
    expect(turn).toMatchObject({ kind: 'threw', error: { message: 'no keys' } })
  })
})

describe('AT-K15: thrown values', () => {
  test.each([
    ['text', 'throw "broken"', { name: 'Error', message: 'broken' }],
    ['undefined', 'throw undefined', { name: 'Error', message: 'undefined' }],
    ['a symbol', 'throw Symbol("s")', { name: 'Error', message: 'Symbol(s)' }],
    ['an object', 'throw { code: 1 }', { name: 'Error', message: '{"code":1}' }],
    ['a proxy', 'throw new Proxy({}, { get() { throw 1 } })', { name: 'Error' }],
    ['an error without prototype', 'throw Object.setPrototypeOf(new Error("bare"), null)', { message: 'bare' }],
    ['an error that lies', 'throw Object.assign(new Error("x"), { name: 1n, message: {} })', { name: 'Error' }],
    ['an error with a huge message', 'throw new Error("x".repeat(1e6))', { message: 'x'.repeat(10_000) }],
    ['a tools function', 'throw tools.x', { name: 'Error', message: '[function]' }],
  ])('%s', async (_, source, error) => expect(await start(source)).toMatchObject({ kind: 'threw', error }))
})

describe('AT-K16: code from text, modules and shared memory are not available', () => {
  test.each([
    'eval("1")',
    '(0, eval)("1")',
    'new Function("return 1")',
    'Function("return 1")()',
    '(() => {}).constructor("return 1")',
    '(async () => {}).constructor("return 1")',
    '(function* () {}).constructor("return 1")',
    '(async function* () {}).constructor("return 1")',
    'Reflect.construct(Object.getPrototypeOf(async () => {}).constructor, ["return 1"])',
    'console.log.constructor("return 1")',
    'class Sub extends Function { constructor() { super("return 1") } }; new Sub()',
  ])('%s', async (source) => {
    expect(await start(`return ${source.includes('class') ? `(() => { ${source} })()` : source}`)).toMatchObject({
      kind: 'threw',
      error: { name: 'EvalError', message: expect.stringContaining('is not available in scripts') },
    })
  })

  test.each(['import("node:fs")', 'import("fs")', 'import("data:text/javascript,1")', 'import("./x.js")'])(
    '%s',
    async (source) => {
      expect(await start(`return await ${source}`)).toMatchObject({ kind: 'threw', error: { name: 'ReferenceError' } })
    },
  )

  test('an import declaration is a syntax error', async () => {
    expect(await start('import fs from "node:fs"')).toMatchObject({ kind: 'threw', error: { name: 'SyntaxError', line: 1 } })
  })

  test('nothing else is there', async () => {
    const names = [
      ...['WebAssembly', 'Atomics', 'SharedArrayBuffer', 'performance', 'WeakRef', 'FinalizationRegistry', 'process', 'require'],
      ...['module', 'fetch', 'XMLHttpRequest', 'WebSocket', 'setTimeout', 'setInterval', 'setImmediate', 'Worker', 'postMessage'],
      ...[
        'navigator',
        'crypto',
        'structuredClone',
        'std',
        'os',
        'signal',
        'bjson',
        'Buffer',
        'global',
        'window',
        'self',
        'print',
      ],
    ]
    expect(await resultOf(`return ${JSON.stringify(names)}.filter((name) => name in globalThis)`)).toEqual([])
  })
})

describe('AT-K17: there is no channel between two scripts', () => {
  test('of the same worker', async () => {
    await using single = quickJsEngine({ workers: 1 })
    const run = async (source: string): Promise<ScriptTurn> =>
      (await single.open({ limits, signal: new AbortController().signal })).start({ source })
    const write = `globalThis.leak = 1; Array.prototype.leak = 1; Symbol.for('leak'); tools.x.leak; Math.leak = 1
Object.prototype.leak = 1; Promise.prototype.then.leak = 1
let threw = 0
for (const target of [console, ToolError, search]) try { target.leak = 1 } catch { threw++ }
return [Math.random(), threw]`
    const read = `return [typeof leak, [].leak, Math.leak, ({}).leak, console.leak, Promise.prototype.then.leak].join()`
    const first = await run(write)
    expect(first).toMatchObject({ value: [expect.any(Number), 3] })
    expect(await run(read)).toMatchObject({ value: 'undefined,,,,,' })
    // The sequence of random numbers starts again.
    expect(await run(write)).toEqual(first)
  })
})

describe('AT-K18: nothing leads to the functions of the host', () => {
  test('constructors of all that it can reach are those of the script', async () => {
    const source = `const seen = new Set([Function.prototype])
const queue = [globalThis, tools, tools.x, search, describe, console, ToolError, tools.x({}), search('x'), Symbol.prototype]
const foreign = []
while (queue.length > 0) {
  const value = queue.pop()
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || seen.size > 5000) continue
  seen.add(value)
  const proto = Object.getPrototypeOf(value)
  if (typeof value === 'function' && !(value instanceof Function) && proto !== null) foreign.push(String(value))
  queue.push(proto)
  for (const key of Reflect.ownKeys(value)) {
    if (/signal|configure|settle|outstanding/.test(String(key)) && !['settled', 'allSettled'].includes(key)) foreign.push(String(key))
    const { value: held, get, set } = Object.getOwnPropertyDescriptor(value, key)
    queue.push(held, get, set)
  }
}
return foreign`
    const machine = await open({ cpuMs: 60_000 })
    await machine.start({ source })
    expect(
      await machine.settle([
        { id: 1, value: 1 },
        { id: 2, value: 1 },
      ]),
    ).toMatchObject({ kind: 'returned', value: [] })
  })

  test('call sites, callers and arguments are not available', async () => {
    const source = `const found = []
try { Error.prepareStackTrace = (error, sites) => sites; found.push('assigned') } catch {}
try { Object.defineProperty(Error, 'prepareStackTrace', { value: (error, sites) => sites }); found.push('defined') } catch {}
if (typeof new Error('x').stack !== 'string') found.push('stack')
const spy = { toJSON() { try { if (spy.toJSON.caller) found.push('caller') } catch {} return 1 } }
console.log(spy)
JSON.stringify(spy)
try { if (console.log.caller !== undefined && console.log.caller !== null) found.push('caller of log') } catch {}
try { if (search.arguments !== undefined && search.arguments !== null) found.push('arguments') } catch {}
return found`
    expect(await resultOf(source)).toEqual([])
  })

  test('text after the end of the program has no more rights', async () => {
    const outside = await start(
      'return 1 }), globalThis.escaped = typeof signal, (async function () { return [escaped, typeof tools]',
    )
    expect(outside).toMatchObject({ kind: 'returned', value: ['undefined', 'function'] })
    const caller = `return 1 }), globalThis.spy = { toJSON: function toJSON() { return String(arguments.callee.caller) } }, (async function () {
console.log(spy)`
    const { output } = await start(caller)
    expect(output.join()).not.toContain('outstanding')
  })
})

describe('AT-K19: snapshots', () => {
  async function paused(): Promise<Uint8Array> {
    const machine = await open()
    await machine.start({ source: 'return await tools.x()' })
    return machine.snapshot()
  }
  const rejected = async (snapshot: Uint8Array, problem: string): Promise<void> => {
    await expect((await open()).restore(snapshot)).rejects.toMatchObject({
      reason: 'invalid_snapshot',
      message: expect.stringContaining(problem),
    })
  }
  /** The snapshot with another header and body, and the digest that belongs to them. */
  const forged = (snapshot: Uint8Array, change: (header: Record<string, unknown>) => object, body?: Buffer): Buffer => {
    const rest = Buffer.from(snapshot).subarray(37)
    const end = 4 + rest.readUInt32LE()
    const header = Buffer.from(JSON.stringify(change(JSON.parse(rest.subarray(4, end).toString()))))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(header.length)
    const content = Buffer.concat([length, header, body ?? rest.subarray(end)])
    return Buffer.concat([Buffer.from(snapshot).subarray(0, 5), createHash('sha256').update(content).digest(), content])
  }

  test('that are none, truncated or altered are rejected', async () => {
    const snapshot = await paused()
    await rejected(new Uint8Array(), 'not a snapshot')
    await rejected(Buffer.from('x'.repeat(1_000)), 'not a snapshot')
    await rejected(snapshot.subarray(0, -1), 'damaged')
    for (const at of [6, 40, 60, 300, snapshot.length - 1]) {
      const altered = Uint8Array.from(snapshot)
      altered[at] = (altered[at] ?? 0) ^ 1
      await rejected(altered, 'damaged')
    }
  })

  test('of another engine, harness or build are rejected', async () => {
    const snapshot = await paused()
    await rejected(
      forged(snapshot, (header) => ({ ...header, version: 'quickjs-wasi 3.5.0, harness 1' })),
      'quickjs-wasi 3.5.0',
    )
    await rejected(
      forged(snapshot, (header) => ({ ...header, base: 'other' })),
      'incompatible build',
    )
  })

  test('that would need too much memory are rejected', async () => {
    const snapshot = await paused()
    await rejected(
      forged(snapshot, (header) => ({ ...header, bytes: 2 ** 31 })),
      'bytes of memory',
    )
    await rejected(
      forged(snapshot, (header) => header, gzipSync(Buffer.alloc(200 * 1_048_576))),
      'damaged',
    )
    await rejected(
      forged(snapshot, (header) => ({ ...header, bytes: -1 })),
      'invalid',
    )
    await rejected(
      forged(snapshot, () => []),
      'it was taken by',
    )
  })

  test('with a forged memory harm only their own script', async () => {
    const snapshot = await paused()
    const machine = await open()
    const noise = Buffer.alloc(1_441_792 / 32 + 4 * 1_000, 7)
    await expect(machine.restore(forged(snapshot, (header) => header, gzipSync(noise)))).rejects.toThrow()
    expect(await resultOf('return "next"')).toBe('next')
  })
})
