import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isRunning, toolModule, type Workshop, workshop } from '../../test/plugins.ts'
import { defineToolbox } from '../index.ts'
import { ways } from '../testing/index.ts'
import { pluginFolder } from './index.ts'
import { typescriptArgs } from './typescript.ts'

const messages = ({ reports }: Workshop): string[] => reports.map(({ message }) => message)
const pids = ({ plugins }: Workshop): number[] => plugins.plugins().flatMap(({ pid }) => pid ?? [])

describe('what a folder of plugins may hold', () => {
  test('modules whose default export is a plugin, or its tools alone', async () => {
    await using shop = await workshop({
      'greet.mjs': `export default { name: 'Greetings', tools: [
        { name: 'hello', title: 'Hello', description: 'Says hello', annotations: { readOnlyHint: true },
          inputSchema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
          handler: ({ who }) => 'Hello, ' + who },
        { name: 'count', handler: () => ({ count: 2 }) } ] }`,
      'list.js': toolModule('alone'),
    })
    expect(await shop.client.tools()).toEqual([
      {
        name: 'hello',
        title: 'Hello',
        description: 'Says hello',
        annotations: { readOnlyHint: true },
        inputSchema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
      },
      { name: 'count', inputSchema: { type: 'object', properties: {} } },
      { name: 'alone', description: 'Does alone', inputSchema: { type: 'object' } },
    ])
    expect(await shop.call('hello', { who: 'Ada' })).toBe('Hello, Ada')
    expect(await shop.call('hello', {})).toContain("must have required property 'who'")
    expect((await shop.client.call('count')).structuredContent).toEqual({ count: 2 })
    expect(shop.reports).toEqual([])
    expect(shop.plugins.plugins()).toMatchObject([
      { key: 'greet.mjs', name: 'Greetings', state: 'running', tools: ['hello', 'count'] },
      { key: 'list.js', name: 'list.js', state: 'running', tools: ['alone'] },
    ])
  })

  test('CommonJS modules, and schemas of a library, which fill in what they fill in', async () => {
    await using shop = await workshop({
      'old.js': `module.exports = [{ name: 'old', handler: () => 'still here' }]`,
      'schema.mjs': `
        const schema = { '~standard': { version: 1, vendor: 'own',
          validate: (value) => value.n > 5 ? { issues: [{ message: 'is too much', path: ['n'] }] } : { value: { n: 1, ...value } },
          jsonSchema: { input: () => ({ properties: { n: { type: 'number' } } }), output: () => ({}) } } }
        export default [{ name: 'double', inputSchema: schema, handler: ({ n }) => String(2 * n) }]`,
    })
    expect(await shop.call('old')).toBe('still here')
    expect(await shop.call('double')).toBe('2')
    expect(await shop.call('double', { n: 9 })).toBe('The arguments are not valid:\n- n: is too much')
    expect((await shop.client.tools())[1]?.inputSchema).toEqual({ type: 'object', properties: { n: { type: 'number' } } })
  })

  test('no plain object of schemas where a schema belongs, which is reported', async () => {
    await using shop = await workshop({
      'shape.mjs': `
        const n = { '~standard': { version: 1, vendor: 'zod', validate: (value) => ({ value }), jsonSchema: { input: () => ({}), output: () => ({}) } } }
        export default [{ name: 'double', inputSchema: { n }, handler: () => '' }]`,
    })
    expect(messages(shop)).toEqual([
      'Plugin "shape.mjs" was not loaded: the input schema of tool "double" is a plain object that holds zod schemas: wrap it in z.object(…).',
    ])
  })

  test('no tool with an unknown key, which is reported by name', async () => {
    await using shop = await workshop({
      'typo.mjs': `export default [{ name: 'double', desciption: 'Doubles', handler: () => '' }]`,
    })
    expect(messages(shop)).toEqual([
      'Plugin "typo.mjs" was not loaded: Unknown key "desciption" in tool "double". Did you mean "description"?',
    ])
  })

  test('folders with a manifest, which may define the tools itself', async () => {
    await using shop = await workshop({
      'one/plugin.json': JSON.stringify({ name: 'One', main: './lib/main.mjs' }),
      'one/lib/main.mjs': `import { word } from '../word.mjs'\nexport default [{ name: 'one', handler: () => word }]`,
      'one/word.mjs': `export const word = 'from beside'`,
      'two/plugin.json': JSON.stringify({
        tools: [
          { name: 'named', description: 'By name', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } },
          { name: 'in-table' },
        ],
      }),
      'two/index.mjs': `export const named = ({ a }) => 'a is ' + a\nexport default { 'in-table': () => 'tabled' }`,
      'off/plugin.json': JSON.stringify({ disabled: true }),
      'off/index.js': toolModule('off'),
    })
    expect(await shop.client.toolNames()).toEqual(['one', 'named', 'in-table'])
    expect(await shop.call('one')).toBe('from beside')
    expect(await shop.call('named', { a: 3 })).toBe('a is 3')
    expect(await shop.call('in-table')).toBe('tabled')
    expect(shop.reports).toEqual([])
  })

  test('what its modules share, which is no plugin', async () => {
    await using shop = await workshop({
      '_shared.mjs': `export const word = 'first'`,
      'lib/more.mjs': `export const more = 'more'`,
      'a.mjs': `import { word } from './_shared.mjs'\nimport { more } from './lib/more.mjs'\nexport default [{ name: 'a', handler: () => word + ' ' + more }]`,
      'a.test.mjs': `throw new Error('no plugin')`,
      '.hidden.mjs': `throw new Error('no plugin')`,
      'notes.txt': 'no plugin',
      'a.mjs~': 'a draft',
    })
    expect(await shop.client.toolNames()).toEqual(['a'])
    expect(shop.reports).toEqual([])
    await shop.save('_shared.mjs', `export const word = 'second'`)
    await shop.until('the module has it', async () => (await shop.call('a')) === 'second more')
    await shop.save('lib/more.mjs', `export const more = 'less'`)
    await shop.until('the module has it', async () => (await shop.call('a')) === 'second less')
  })

  test.skipIf(typescriptArgs() === undefined)('TypeScript, where Node can run it', async () => {
    await using shop = await workshop({
      'typed.ts': `interface Input { readonly n: number }\nexport default [{ name: 'typed', handler: ({ n }: Input): string => String(n + 1) }]`,
    })
    expect(await shop.call('typed', { n: 1 })).toBe('2')
  })

  test.skipIf(typescriptArgs() !== undefined)('no TypeScript where Node cannot run it, which is said', async () => {
    await using shop = await workshop({ 'typed.ts': toolModule('typed'), 'plain.js': toolModule('plain') })
    expect(await shop.client.toolNames()).toEqual(['plain'])
    expect(messages(shop)).toEqual([
      `Plugin "typed.ts" was not loaded: Node ${process.versions.node} cannot run TypeScript. Use Node 22.6 or newer, or compile it to .js.`,
    ])
  })
})

describe.each(ways)('a client over $transport in the $era era', (way) => {
  test('sees tools come, change and go as files are saved and removed, and is told each time', async () => {
    await using shop = await workshop({ 'a.mjs': toolModule('a') }, { way })
    expect(await shop.client.toolNames()).toEqual(['a'])
    await shop.save('b.mjs', toolModule('b'))
    await shop.client.told(1)
    expect(await shop.client.toolNames()).toEqual(['a', 'b'])
    await shop.save('b.mjs', toolModule('b2'))
    await shop.client.told(2)
    expect(await shop.client.toolNames()).toEqual(['a', 'b2'])
    expect(await shop.call('b2')).toBe('b2 1')
    await shop.remove('b.mjs')
    await shop.client.told(3)
    expect(await shop.client.toolNames()).toEqual(['a'])
  })
})

describe('a plugin that is saved', () => {
  test('changes the identity of the list when a definition changed, and back with it', async () => {
    await using shop = await workshop({ 'a.mjs': toolModule('a') })
    const identity = async () => {
      const { _meta } = await shop.client.client.listTools(undefined, { cacheMode: 'bypass' })
      return _meta?.['io.github.unfold-mcp/identity']
    }
    const before = await identity()
    expect(before).toEqual(expect.any(String))
    await shop.save('a.mjs', toolModule('a2'))
    await shop.client.told(1)
    expect(await identity()).not.toBe(before)
    await shop.save('a.mjs', toolModule('a', `return 'other words'`))
    await shop.client.told(2)
    expect(await identity()).toBe(before)
  })

  test('answers as it was saved; when no definition changed, nobody is told', async () => {
    await using shop = await workshop({ 'a.mjs': toolModule('a', `return 'first'`) })
    expect(await shop.call('a')).toBe('first')
    await shop.save('a.mjs', toolModule('a', `return 'second'`))
    await shop.until('the new version answers', async () => (await shop.call('a')) === 'second')
    await shop.client.quiet()
    expect(shop.client.notices).toBe(0)
  })

  test.each([
    [
      'that is no JavaScript',
      'export default [',
      /^Plugin "a\.mjs" was not loaded: .*Unexpected end of input\. The version before it is served on\.$/s,
    ],
    [
      'that throws',
      `\n\nthrow new Error('half done')`,
      'Plugin "a.mjs" was not loaded: line 3: half done. The version before it is served on.',
    ],
    [
      'without a default export',
      'export const a = 1',
      /its default export is no plugin\. Export \{ name, tools: \[\.\.\.\] \}, or the tools alone/,
    ],
    ['with a tool without a handler', `export default [{ name: 'x' }]`, /the tool "x" has no handler/],
    ['with a tool without a name', 'export default [{ handler() {} }]', /a tool has no name/],
    [
      'with the same tool twice',
      `const handler = () => 1\nexport default [{ name: 'x', handler }, { name: 'x', handler }]`,
      /the tool "x" is declared twice/,
    ],
    ['with an impossible name', `export default [{ name: 'x y', handler() {} }]`, /"x y" is not a valid tool name/],
    [
      'with a schema that is none',
      `export default [{ name: 'x', inputSchema: 'text', handler() {} }]`,
      /the inputSchema of tool "x" must be an object/,
    ],
    ['that ends its process', 'process.exit(3)', /its process ended with exit code 3/],
    ['that imports what is not there', `import './nowhere.mjs'`, /Cannot find module/],
  ])('with a version %s keeps the one before, and it is reported', async (_, broken, report) => {
    await using shop = await workshop({ 'a.mjs': toolModule('a', `return 'good'`), 'b.mjs': toolModule('b') })
    await shop.save('a.mjs', broken)
    await shop.until('it is reported', () => shop.reports.length > 0)
    expect(messages(shop)).toEqual([expect.stringMatching(report)])
    expect(shop.reports).toMatchObject([{ reason: 'plugin_failed' }])
    expect(await shop.client.toolNames()).toEqual(['a', 'b'])
    expect(await shop.call('a')).toBe('good')
    await shop.save('a.mjs', toolModule('a', `return 'mended'`))
    await shop.until('it is mended', async () => (await shop.call('a')) === 'mended')
  })

  test('while it is being loaded is loaded as it was saved last', async () => {
    await using shop = await workshop({ 'a.mjs': toolModule('a') })
    await shop.save('a.mjs', `console.log('loading')\nawait new Promise(() => setTimeout(() => {}, 60_000))`)
    await shop.until('it is being loaded', () => shop.output.includes('a.mjs: loading'))
    await shop.save('a.mjs', toolModule('a', `return 'last'`))
    await shop.until('the last version answers', async () => (await shop.call('a')) === 'last')
    expect(shop.reports).toEqual([])
  })

  test('finishes the calls that it was answering', async () => {
    await using shop = await workshop({
      'a.mjs': toolModule('a', `ctx.progress(1); await new Promise((done) => setTimeout(done, 600)); return 'old'`),
    })
    const [before] = pids(shop)
    const answer = shop.call('a')
    await shop.save('a.mjs', toolModule('a', `return 'new'`))
    await shop.until('the new version answers', async () => (await shop.call('a')) === 'new')
    expect(await answer).toBe('old')
    await shop.until('the old process is gone', () => before !== undefined && !isRunning(before))
  })
})

describe('a plugin that misbehaves takes only itself down', () => {
  const besides = { 'good.mjs': toolModule('good') }

  test('one that throws says so, and goes on', async () => {
    await using shop = await workshop({ ...besides, 'bad.mjs': toolModule('bad', `throw new Error('no such thing')`) })
    expect(await shop.client.call('bad')).toMatchObject({ isError: true, content: [{ text: 'Plugin "bad.mjs": no such thing' }] })
    expect(messages(shop)).toEqual(['Tool "bad" threw: Plugin "bad.mjs": no such thing'])
    expect(shop.plugins.plugins()[0]).toMatchObject({ state: 'running' })
  })

  test('one that foresaw its failure is quoted, and nobody is alarmed', async () => {
    const body = `throw Object.assign(new Error('Pick a number.'), { name: 'ToolError' })`
    await using shop = await workshop({ 'bad.mjs': toolModule('bad', body) })
    expect(await shop.client.call('bad')).toMatchObject({ isError: true, content: [{ text: 'Pick a number.' }] })
    expect(shop.reports).toEqual([])
  })

  test.each([
    ['exits', 'process.exit(7)', 'ended with exit code 7'],
    [
      'leaves a rejection unhandled',
      `void Promise.reject(new Error('lost')); await new Promise(() => setTimeout(() => {}, 60_000))`,
      'ended with exit code 1',
    ],
    [
      'kills itself',
      `process.kill(process.pid, 'SIGKILL'); await new Promise(() => setTimeout(() => {}, 60_000))`,
      'was ended by SIGKILL',
    ],
  ])('one that %s is named, reported and started again', async (_, body, why) => {
    await using shop = await workshop({ ...besides, 'bad.mjs': toolModule('bad', `if (input.now) { ${body} } return 'back'`) })
    const answer = await shop.client.call('bad', { now: true })
    expect(answer).toMatchObject({
      isError: true,
      content: [
        { text: `Plugin "bad.mjs" ${why} during the call. It is started again; try once more, perhaps with less at once.` },
      ],
      _meta: { 'io.github.unfold-mcp/reason': 'tool_failed' },
    })
    expect(await shop.call('good')).toBe('good 1')
    expect(await shop.client.toolNames()).toEqual(['bad', 'good'])
    expect(await shop.call('bad')).toBe('back')
    expect(messages(shop)[0]).toContain(`Plugin "bad.mjs" ${why}. It is started again in 0.1 seconds.`)
    expect(shop.client.notices).toBe(0)
  })

  test('one that hangs is given up on, ended and started again', async () => {
    await using shop = await workshop(
      { ...besides, 'bad.mjs': toolModule('bad', `if (input.now) for (;;); return 'back'`) },
      { callTimeoutMs: 300 },
    )
    const [before] = pids(shop)
    const answer = await shop.client.call('bad', { now: true })
    expect(answer).toMatchObject({
      isError: true,
      content: [
        { text: 'Tool "bad" of plugin "bad.mjs" did not finish within 0.3 seconds. Ask for less at once, or try again later.' },
      ],
      _meta: { 'io.github.unfold-mcp/reason': 'tool_timeout' },
    })
    expect(await shop.call('good')).toBe('good 1')
    await shop.until('it was ended', () => before !== undefined && !isRunning(before))
    await shop.until('it is back', async () => (await shop.call('bad')) === 'back')
    expect(messages(shop)[0]).toContain('Plugin "bad.mjs" was stopped because it no longer reacted.')
  })

  test('one whose call takes too long but which still reacts is left alone', async () => {
    const body = `if (input.now) await new Promise((_, fail) => ctx.signal.addEventListener('abort', () => { console.log('told'); fail(ctx.signal.reason) })); return 'here'`
    await using shop = await workshop({ 'slow.mjs': toolModule('slow', body) }, { callTimeoutMs: 200 })
    const before = pids(shop)
    expect(await shop.call('slow', { now: true })).toContain('did not finish within 0.2 seconds')
    await shop.until('the handler heard of it', () => shop.output.includes('slow.mjs: told'))
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(await shop.call('slow')).toBe('here')
    expect(pids(shop)).toEqual(before)
    expect(shop.reports).toEqual([])
  })

  test('one that hangs while it is loaded is given up on', async () => {
    await using shop = await workshop({ ...besides, 'bad.mjs': 'for (;;);' }, { loadTimeoutMs: 1_000 })
    expect(messages(shop)).toEqual(['Plugin "bad.mjs" was not loaded: it did not load within 1 seconds.'])
    expect(await shop.call('good')).toBe('good 1')
    expect(shop.plugins.plugins()[0]).toMatchObject({ key: 'bad.mjs', state: 'failed', tools: [] })
  })

  test.each([
    ['in its heap', `const all = []; for (;;) all.push(new Array(1_000_000).fill(all.length))`],
    ['outside its heap', `const all = []; for (let i = 0; i < 16; i++) all.push(Buffer.alloc(1 << 26, i)); for (;;) all[0][0]++`],
  ])('one that takes a gigabyte of memory %s is ended', async (_, body) => {
    await using shop = await workshop(
      { ...besides, 'bad.mjs': toolModule('bad', `if (input.now) { ${body} } return 'back'`) },
      { memoryMb: 64 },
    )
    const answer = await shop.call('bad', { now: true })
    expect(answer).toMatch(/^Plugin "bad\.mjs" (?:was ended by \w+|ended with exit code \d+) during the call\./)
    expect(await shop.call('good')).toBe('good 1')
    await shop.until('it is back', async () => (await shop.call('bad')) === 'back')
    expect(messages(shop)[0]).toMatch(/MB of memory|heap out of memory/)
  })

  test('one that floods its output is listened to for a while', async () => {
    await using shop = await workshop({
      'bad.mjs': toolModule('bad', `for (let i = 0; i < 5_000; i++) console.log('line ' + i + '\\u001b[31m'); return 'done'`),
    })
    expect(await shop.call('bad')).toBe('done')
    await shop.until('all was read', () => shop.output.length > 200)
    expect(shop.output).toHaveLength(201)
    expect(shop.output[0]).toBe('bad.mjs: line 0\\u{1b}[31m')
    expect(shop.output.at(-1)).toContain('the rest is left out')
  })

  test('one whose result is too large says so, and one that writes too much to its pipe is ended', async () => {
    const body = `if (input.rude) { (await import('node:fs')).writeSync(3, 'x'.repeat(300_000)); await new Promise(() => setTimeout(() => {}, 60_000)) } return 'x'.repeat(input.size)`
    await using shop = await workshop({ ...besides, 'bad.mjs': toolModule('bad', body) }, { mostBytes: 100_000 })
    expect(await shop.call('bad', { size: 200_000 })).toBe('The result is larger than 100000 bytes. Ask for less at once.')
    expect(await shop.call('bad', { size: 5 })).toBe('xxxxx')
    expect(await shop.call('bad', { text: 'y'.repeat(200_000) })).toBe(
      'The arguments are larger than 100000 bytes. Send less at once.',
    )
    expect(await shop.call('bad', { rude: true })).toContain('was stopped because it sent a message of more than 100000 bytes')
    expect(await shop.call('good')).toBe('good 1')
  })

  test('one that gives what no client can read is told apart', async () => {
    await using shop = await workshop({
      'bad.mjs': toolModule('bad', `return input.big ? { n: 1n } : input.map ? new Map() : [5]`),
    })
    expect(await shop.call('bad', { big: true })).toContain('Plugin "bad.mjs": Do not know how to serialize a BigInt')
    expect(await shop.call('bad')).toContain('Tool "bad" returned an invalid result: it returned an array')
    expect(await shop.call('bad', { map: true })).toContain(
      'Tool "bad" returned an invalid result: it returned an instance of Map',
    )
  })

  test('one that keeps ending is started again later each time, and its tools stay listed', async () => {
    // On a clock that stands still no time counts as having gone well.
    await using shop = await workshop({ 'bad.mjs': toolModule('bad', 'process.exit(1)') }, { now: () => 0 })
    for (let round = 0; round < 5; round++) await shop.call('bad')
    await shop.until('it waits', () => shop.plugins.plugins()[0]?.state === 'waiting')
    const waits = messages(shop).map((message) => /started again in ([\d.]+) seconds/.exec(message)?.[1])
    expect(waits).toEqual(['0.1', '0.2', '0.4', '0.8', '1.6'])
    expect(await shop.call('bad')).toBe(
      'Plugin "bad.mjs" is not running, because it ended unexpectedly. It is started again in 1.6 seconds; try again then.',
    )
    expect(await shop.client.toolNames()).toEqual(['bad'])
  })
})

describe('progress, logs and cancellation', () => {
  test('pass through', async () => {
    await using shop = await workshop({
      'a.mjs': toolModule('a', `ctx.progress(1, 2, 'half'); ctx.progress(2, 2, 'whole'); return 'done'`),
    })
    const told: unknown[] = []
    await shop.client.client.callTool({ name: 'a' }, { onprogress: (progress) => void told.push(progress) })
    expect(told).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2, message: 'whole' },
    ])
  })

  test('a client that cancels reaches the handler', async () => {
    const body = `console.log('begun'); await new Promise((done) => ctx.signal.addEventListener('abort', done)); console.log('cancelled'); return ''`
    await using shop = await workshop({ 'a.mjs': toolModule('a', body) })
    const controller = new AbortController()
    const answer = shop.client.client.callTool({ name: 'a' }, { signal: controller.signal }).catch(() => 'given up')
    await shop.until('it began', () => shop.output.includes('a.mjs: begun'))
    controller.abort()
    expect(await answer).toBe('given up')
    await shop.until('the handler heard of it', () => shop.output.includes('a.mjs: cancelled'))
  })
})

describe('what leads out of the folder is refused by its real path', () => {
  async function outside(make: (folder: string, elsewhere: string) => Promise<void>): Promise<string[]> {
    const elsewhere = await mkdtemp(join(tmpdir(), 'unfold-elsewhere-'))
    try {
      await writeFile(join(elsewhere, 'evil.mjs'), toolModule('evil'))
      await writeFile(join(elsewhere, 'plugin.json'), '{"main":"evil.mjs"}')
      await using shop = await workshop({ 'good.mjs': toolModule('good') })
      await make(shop.folder, elsewhere)
      await shop.plugins.rescan()
      await shop.until('it is reported', () => shop.reports.length > 0)
      expect(await shop.client.toolNames()).toEqual(['good'])
      return messages(shop)
    } finally {
      await rm(elsewhere, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  }
  const out = 'it leads out of its folder, and is not loaded. Copy it into the folder.'

  test('a linked module', async () => {
    const told = await outside((folder, elsewhere) => symlink(join(elsewhere, 'evil.mjs'), join(folder, 'evil.mjs')))
    expect(told).toEqual([`Plugin "evil.mjs" was not loaded: ${out}`])
  })

  test('a linked folder', async () => {
    const told = await outside((folder, elsewhere) => symlink(elsewhere, join(folder, 'evil')))
    expect(told).toEqual([`Plugin "evil" was not loaded: ${out}`])
  })

  test.each(['relative', 'absolute', 'linked'])('a manifest with a %s path', async (kind) => {
    const told = await outside(async (folder, elsewhere) => {
      await mkdir(join(folder, 'pack'))
      await symlink(join(elsewhere, 'evil.mjs'), join(folder, 'pack', 'linked.mjs'))
      const evil = join(elsewhere, 'evil.mjs')
      const main = { relative: join('..', '..', evil.slice(tmpdir().length + 1)), absolute: evil, linked: 'linked.mjs' }[kind]
      await writeFile(join(folder, 'pack', 'plugin.json'), JSON.stringify({ main }))
    })
    expect(told).toEqual([`Plugin "pack" was not loaded: ${out}`])
  })

  test('a manifest that reaches for another plugin', async () => {
    const told = await outside(async (folder) => {
      await mkdir(join(folder, 'pack'))
      await writeFile(join(folder, 'pack', 'plugin.json'), JSON.stringify({ main: '../good.mjs' }))
    })
    expect(told).toEqual([`Plugin "pack" was not loaded: ${out}`])
  })

  test('a link to itself', async () => {
    const told = await outside((folder) => symlink(join(folder, 'loop.mjs'), join(folder, 'loop.mjs')))
    expect(told).toEqual([expect.stringMatching(/^Plugin "loop\.mjs" was not loaded: ELOOP/)])
  })

  test('a link that stays inside is followed', async () => {
    await using shop = await workshop({ '_real.mjs': toolModule('real') })
    await symlink(join(shop.folder, '_real.mjs'), join(shop.folder, 'linked.mjs'))
    await shop.plugins.rescan()
    expect(await shop.call('real')).toBe('real 1')
  })
})

describe('manifests that are none', () => {
  test('keep their plugin out, and no other', async () => {
    await using shop = await workshop({ 'pack/plugin.json': '{', 'good.mjs': toolModule('good') })
    expect(messages(shop)).toEqual([expect.stringContaining('Plugin "pack" was not loaded: plugin.json is not JSON:')])
    expect(await shop.client.toolNames()).toEqual(['good'])
  })

  test('the same mistake is reported once, however often one looks', async () => {
    await using shop = await workshop({ 'pack/plugin.json': '{' })
    for (let round = 0; round < 3; round++) await shop.plugins.rescan()
    expect(shop.reports).toHaveLength(1)
  })
})

describe('names that clash', () => {
  test('between plugins: the first in the order of their names is served, and it is reported', async () => {
    await using shop = await workshop({
      'a.mjs': toolModule('same', `return 'from a'`),
      'b.mjs': toolModule('same', `return 'from b'`),
    })
    expect(await shop.client.toolNames()).toEqual(['same'])
    expect(await shop.call('same')).toBe('from a')
    expect(shop.reports).toEqual([
      {
        reason: 'name_clash',
        message: 'Tool "same" of plugin b.mjs is not served: plugin a.mjs has one of that name. Rename one of them.',
      },
    ])
    await shop.remove('a.mjs')
    await shop.until('the other is served', async () => (await shop.call('same')) === 'from b')
  })

  test('with a tool of the toolbox, whose own is served', async () => {
    await using shop = await workshop(
      { 'a.mjs': toolModule('same') },
      {
        toolbox: (plugins) =>
          defineToolbox({ name: 'hub', version: '1', report: () => undefined })
            .tool('same', {}, () => 'own')
            .use(plugins),
      },
    )
    expect(await shop.call('same')).toBe('own')
  })

  test('with a tool of the library: that one tool is refused, whenever the folder is taken in', async () => {
    const files = {
      'a.mjs': `const handler = () => 'x'\nexport default [{ name: 'call_tool', handler }, { name: 'fine', handler }]`,
    }
    await using shop = await workshop(files)
    expect(await shop.client.toolNames()).toEqual(['fine'])
    expect(messages(shop)).toEqual([expect.stringContaining('Tool "call_tool" of plugin a.mjs is not served:')])
    // A second toolbox that takes in what is loaded already.
    expect(() => defineToolbox({ name: 'late', version: '1' }).use(shop.plugins)).not.toThrow()
  })

  test('with no group of that name: the tool is refused', async () => {
    await using shop = await workshop({ 'a.mjs': `export default [{ name: 'a', group: 'nowhere', handler() {} }]` })
    expect(await shop.client.toolNames()).toEqual([])
    expect(messages(shop)).toEqual([expect.stringContaining('Tool "a" of plugin a.mjs is not served:')])
  })
})

test('tools of a group are shown with it', async () => {
  await using shop = await workshop(
    {
      'a.mjs': `export default { group: 'extra', tools: [{ name: 'a', handler: () => 'x' }, { name: 'b', group: 'more', handler: () => 'y' }] }`,
    },
    {
      toolbox: (plugins) =>
        defineToolbox({ name: 'hub', version: '1', groups: { extra: { about: 'Extra' }, more: { about: 'More' } } }).use(plugins),
    },
  )
  await shop.client.call('activate_extra')
  expect(await shop.client.toolNames()).toContain('a')
  expect(await shop.client.toolNames()).not.toContain('b')
})

test('more plugins than allowed are refused by name', async () => {
  await using shop = await workshop({ 'a.mjs': toolModule('a'), 'b.mjs': toolModule('b') }, { most: 1 })
  expect(await shop.client.toolNames()).toEqual(['a'])
  expect(messages(shop)).toEqual(['Plugin "b.mjs" was not loaded: there are more than 1 plugins.'])
})

test('a folder that is not there is said at once', () => {
  expect(() => pluginFolder('/nowhere/at/all')).toThrow('There is no folder')
})

test('a folder that goes away takes its tools along, and is followed when it comes back', async () => {
  await using shop = await workshop({ 'a.mjs': toolModule('a') }, { rescanMs: 100 })
  await rm(shop.folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
  await shop.until('its tools are gone', async () => (await shop.client.toolNames()).length === 0)
  expect(messages(shop)).toEqual([expect.stringContaining('the folder cannot be read')])
  await shop.save('b.mjs', toolModule('b'))
  await shop.until('it is back', async () => (await shop.client.toolNames()).includes('b'))
})

describe('no process is left behind', () => {
  test('after the folder was closed, whatever the plugins were doing', async () => {
    const shop = await workshop({
      'idle.mjs': toolModule('idle'),
      'busy.mjs': toolModule('busy', `console.log('busy'); for (;;);`),
      'parent.mjs': toolModule(
        'parent',
        'return String(child.pid)',
        `import { spawn } from 'node:child_process'\nconst child = spawn('sleep', ['600'])`,
      ),
    })
    const grandchild = Number(await shop.call('parent'))
    void shop.call('busy').catch(() => undefined)
    await shop.until('it is busy', () => shop.output.includes('busy.mjs: busy'))
    const all = [...pids(shop), grandchild]
    expect(all.filter(isRunning)).toHaveLength(4)
    await shop[Symbol.asyncDispose]()
    await shop.until('all are gone', () => !all.some(isRunning))
  })

  test('after a plugin was removed', async () => {
    await using shop = await workshop({ 'a.mjs': toolModule('a') })
    const all = pids(shop)
    await shop.remove('a.mjs')
    await shop.until('its process is gone', () => !all.some(isRunning))
  })
})
