import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRunning, type PluginFixture, pluginFixture, toolModule } from '../../test/plugins.ts'
import { defineToolbox } from '../index.ts'
import { testTransports } from '../testing/index.ts'
import { pluginFolder } from './index.ts'
import { typescriptArgs } from './typescript.ts'

const messages = ({ reports }: PluginFixture): string[] => reports.map(({ message }) => message)
const pids = ({ plugins }: PluginFixture): number[] => plugins.plugins().flatMap(({ pid }) => pid ?? [])

describe('a plugin folder may contain', () => {
  test('modules whose default export is a plugin or an array of tools', async () => {
    await using fixture = await pluginFixture({
      'greet.mjs': `export default { name: 'Greetings', tools: [
        { name: 'hello', title: 'Hello', description: 'Says hello', annotations: { readOnlyHint: true },
          inputSchema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
          handler: ({ who }) => 'Hello, ' + who },
        { name: 'count', handler: () => ({ count: 2 }) } ] }`,
      'list.js': toolModule('alone'),
    })
    expect(await fixture.client.tools()).toEqual([
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
    expect(await fixture.call('hello', { who: 'Ada' })).toBe('Hello, Ada')
    expect(await fixture.call('hello', {})).toContain("must have required property 'who'")
    expect((await fixture.client.call('count')).structuredContent).toEqual({ count: 2 })
    expect(fixture.reports).toEqual([])
    expect(fixture.plugins.plugins()).toMatchObject([
      { key: 'greet.mjs', name: 'Greetings', state: 'running', tools: ['hello', 'count'] },
      { key: 'list.js', name: 'list.js', state: 'running', tools: ['alone'] },
    ])
  })

  test('CommonJS modules, and library schemas, whose defaults apply', async () => {
    await using fixture = await pluginFixture({
      'old.js': `module.exports = [{ name: 'old', handler: () => 'still here' }]`,
      'schema.mjs': `
        const schema = { '~standard': { version: 1, vendor: 'own',
          validate: (value) => value.n > 5 ? { issues: [{ message: 'is too much', path: ['n'] }] } : { value: { n: 1, ...value } },
          jsonSchema: { input: () => ({ properties: { n: { type: 'number' } } }), output: () => ({}) } } }
        export default [{ name: 'double', inputSchema: schema, handler: ({ n }) => String(2 * n) }]`,
    })
    expect(await fixture.call('old')).toBe('still here')
    expect(await fixture.call('double')).toBe('2')
    expect(await fixture.call('double', { n: 9 })).toBe('Invalid arguments for double:\n- n: is too much')
    expect((await fixture.client.tools())[1]?.inputSchema).toEqual({ type: 'object', properties: { n: { type: 'number' } } })
  })

  test('no plain object of schemas in place of a schema; it is reported', async () => {
    await using fixture = await pluginFixture({
      'shape.mjs': `
        const n = { '~standard': { version: 1, vendor: 'zod', validate: (value) => ({ value }), jsonSchema: { input: () => ({}), output: () => ({}) } } }
        export default [{ name: 'double', inputSchema: { n }, handler: () => '' }]`,
    })
    expect(messages(fixture)).toEqual([
      'Plugin "shape.mjs" was not loaded: the input schema of tool "double" is a plain object that holds zod schemas: wrap it in z.object(…).',
    ])
  })

  test('no tool with an unknown key; the key is reported', async () => {
    await using fixture = await pluginFixture({
      'typo.mjs': `export default [{ name: 'double', desciption: 'Doubles', handler: () => '' }]`,
    })
    expect(messages(fixture)).toEqual([
      'Plugin "typo.mjs" was not loaded: Unknown key "desciption" in tool "double". Did you mean "description"?',
    ])
  })

  test('folders with a manifest, which may define the tools', async () => {
    await using fixture = await pluginFixture({
      'one/plugin.json': JSON.stringify({ name: 'One', main: './lib/main.mjs' }),
      'one/lib/main.mjs': `import { word } from '../word.mjs'\nexport default [{ name: 'one', handler: () => word }]`,
      'one/word.mjs': `export const word = 'from next to it'`,
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
    expect(await fixture.client.toolNames()).toEqual(['one', 'named', 'in-table'])
    expect(await fixture.call('one')).toBe('from next to it')
    expect(await fixture.call('named', { a: 3 })).toBe('a is 3')
    expect(await fixture.call('in-table')).toBe('tabled')
    expect(fixture.reports).toEqual([])
  })

  test('helpers that its modules import, which are not plugins', async () => {
    await using fixture = await pluginFixture({
      '_shared.mjs': `export const word = 'first'`,
      'lib/more.mjs': `export const more = 'more'`,
      'a.mjs': `import { word } from './_shared.mjs'\nimport { more } from './lib/more.mjs'\nexport default [{ name: 'a', handler: () => word + ' ' + more }]`,
      'a.test.mjs': `throw new Error('not a plugin')`,
      '.hidden.mjs': `throw new Error('not a plugin')`,
      'notes.txt': 'not a plugin',
      'a.mjs~': 'a draft',
    })
    expect(await fixture.client.toolNames()).toEqual(['a'])
    expect(fixture.reports).toEqual([])
    await fixture.save('_shared.mjs', `export const word = 'second'`)
    await fixture.until('the module is reloaded', async () => (await fixture.call('a')) === 'second more')
    await fixture.save('lib/more.mjs', `export const more = 'less'`)
    await fixture.until('the module is reloaded', async () => (await fixture.call('a')) === 'second less')
  })

  test.skipIf(typescriptArgs() === undefined)('TypeScript, where Node can run it', async () => {
    await using fixture = await pluginFixture({
      'typed.ts': `interface Input { readonly n: number }\nexport default [{ name: 'typed', handler: ({ n }: Input): string => String(n + 1) }]`,
    })
    expect(await fixture.call('typed', { n: 1 })).toBe('2')
  })

  test.skipIf(typescriptArgs() !== undefined)('no TypeScript where Node cannot run it; it is reported', async () => {
    await using fixture = await pluginFixture({ 'typed.ts': toolModule('typed'), 'plain.js': toolModule('plain') })
    expect(await fixture.client.toolNames()).toEqual(['plain'])
    expect(messages(fixture)).toEqual([
      `Plugin "typed.ts" was not loaded: Node ${process.versions.node} cannot run TypeScript. Use Node 22.6 or newer, or compile it to .js.`,
    ])
  })
})

describe.each(testTransports)('a client over $transport in the $era era', (testTransport) => {
  test('is notified when saved and removed files add, change and remove tools', async () => {
    await using fixture = await pluginFixture({ 'a.mjs': toolModule('a') }, { testTransport })
    expect(await fixture.client.toolNames()).toEqual(['a'])
    await fixture.save('b.mjs', toolModule('b'))
    await fixture.client.waitForListChanges(1)
    expect(await fixture.client.toolNames()).toEqual(['a', 'b'])
    await fixture.save('b.mjs', toolModule('b2'))
    await fixture.client.waitForListChanges(2)
    expect(await fixture.client.toolNames()).toEqual(['a', 'b2'])
    expect(await fixture.call('b2')).toBe('b2 1')
    await fixture.remove('b.mjs')
    await fixture.client.waitForListChanges(3)
    expect(await fixture.client.toolNames()).toEqual(['a'])
  })
})

describe('a plugin that is saved', () => {
  test('changes the identity of the list when a definition changed, and back with it', async () => {
    await using fixture = await pluginFixture({ 'a.mjs': toolModule('a') })
    const identity = async () => {
      const { _meta } = await fixture.client.client.listTools(undefined, { cacheMode: 'bypass' })
      return _meta?.['io.github.unfold-mcp/identity']
    }
    const before = await identity()
    expect(before).toEqual(expect.any(String))
    await fixture.save('a.mjs', toolModule('a2'))
    await fixture.client.waitForListChanges(1)
    expect(await identity()).not.toBe(before)
    await fixture.save('a.mjs', toolModule('a', `return 'other text'`))
    await fixture.client.waitForListChanges(2)
    expect(await identity()).toBe(before)
  })

  test('runs the new code; clients are not notified if no definition changed', async () => {
    await using fixture = await pluginFixture({ 'a.mjs': toolModule('a', `return 'first'`) })
    expect(await fixture.call('a')).toBe('first')
    await fixture.save('a.mjs', toolModule('a', `return 'second'`))
    await fixture.until('the new version answers', async () => (await fixture.call('a')) === 'second')
    await fixture.client.settle()
    expect(fixture.client.listChanges).toBe(0)
  })

  describe('with a version', () => {
    let fixture: PluginFixture
    let answer = 'good'
    beforeAll(async () => {
      fixture = await pluginFixture({ 'a.mjs': toolModule('a', `return '${answer}'`), 'b.mjs': toolModule('b') })
    })
    afterAll(() => fixture[Symbol.asyncDispose]())

    test.each([
      [
        'that is not JavaScript',
        'export default [',
        /^Plugin "a\.mjs" was not loaded: .*Unexpected end of input\. The previous version is still served\.$/s,
      ],
      [
        'that throws',
        `\n\nthrow new Error('half done')`,
        'Plugin "a.mjs" was not loaded: line 3: half done. The previous version is still served.',
      ],
      [
        'without a default export',
        'export const a = 1',
        /its default export is not a plugin\. Export \{ name, tools: \[\.\.\.\] \} or an array of tools/,
      ],
      ['with a tool without a handler', `export default [{ name: 'x' }]`, /the tool "x" has no handler/],
      ['with a tool without a name', 'export default [{ handler() {} }]', /a tool has no name/],
      [
        'with the same tool twice',
        `const handler = () => 1\nexport default [{ name: 'x', handler }, { name: 'x', handler }]`,
        /the tool "x" is declared twice/,
      ],
      ['with an invalid name', `export default [{ name: 'x y', handler() {} }]`, /"x y" is not a valid tool name/],
      [
        'with an invalid schema',
        `export default [{ name: 'x', inputSchema: 'text', handler() {} }]`,
        /the inputSchema of tool "x" must be an object/,
      ],
      ['that exits', 'process.exit(3)', /its process exited with code 3/],
      ['that imports a missing module', `import './nowhere.mjs'`, /Cannot find module/],
    ])('%s keeps the previous one, and reports the failure', async (what, broken, report) => {
      fixture.reports.length = 0
      await fixture.save('a.mjs', broken)
      await fixture.until('it is reported', () => fixture.reports.length > 0)
      expect(messages(fixture)).toEqual([expect.stringMatching(report)])
      expect(fixture.reports).toMatchObject([{ reason: 'plugin_failed' }])
      expect(await fixture.client.toolNames()).toEqual(['a', 'b'])
      expect(await fixture.call('a')).toBe(answer)
      answer = `fixed after one ${what}`
      await fixture.save('a.mjs', toolModule('a', `return '${answer}'`))
      await fixture.until('it is fixed', async () => (await fixture.call('a')) === answer)
    })
  })

  test('while it is loading ends up at the last save', async () => {
    await using fixture = await pluginFixture({ 'a.mjs': toolModule('a') })
    await fixture.save('a.mjs', `console.log('loading')\nawait new Promise(() => setTimeout(() => {}, 60_000))`)
    await fixture.until('it is being loaded', () => fixture.output.includes('a.mjs: loading'))
    await fixture.save('a.mjs', toolModule('a', `return 'last'`))
    await fixture.until('the last version answers', async () => (await fixture.call('a')) === 'last')
    expect(fixture.reports).toEqual([])
  })

  test('finishes its running calls', async () => {
    await using fixture = await pluginFixture({
      'a.mjs': toolModule('a', `ctx.progress(1); await new Promise((done) => setTimeout(done, 600)); return 'old'`),
    })
    const [before] = pids(fixture)
    const answer = fixture.call('a')
    await fixture.save('a.mjs', toolModule('a', `return 'new'`))
    await fixture.until('the new version answers', async () => (await fixture.call('a')) === 'new')
    expect(await answer).toBe('old')
    await fixture.until('the old process is gone', () => before !== undefined && !isRunning(before))
  })
})

describe('a plugin that misbehaves affects only itself', () => {
  const goodPlugin = { 'good.mjs': toolModule('good') }

  test('one that throws returns its error, and keeps running', async () => {
    await using fixture = await pluginFixture({ ...goodPlugin, 'bad.mjs': toolModule('bad', `throw new Error('no such thing')`) })
    expect(await fixture.client.call('bad')).toMatchObject({
      isError: true,
      content: [{ text: 'Plugin "bad.mjs": no such thing' }],
    })
    expect(messages(fixture)).toEqual(['Tool "bad" threw: Plugin "bad.mjs": no such thing'])
    expect(fixture.plugins.plugins()[0]).toMatchObject({ state: 'running' })
  })

  test('the message of a ToolError is passed on, and not reported', async () => {
    const body = `throw Object.assign(new Error('Pick a number.'), { name: 'ToolError' })`
    await using fixture = await pluginFixture({ 'bad.mjs': toolModule('bad', body) })
    expect(await fixture.client.call('bad')).toMatchObject({ isError: true, content: [{ text: 'Pick a number.' }] })
    expect(fixture.reports).toEqual([])
  })

  test.each([
    ['exits', 'process.exit(7)', 'exited with code 7'],
    [
      'leaves a rejection unhandled',
      `void Promise.reject(new Error('lost')); await new Promise(() => setTimeout(() => {}, 60_000))`,
      'exited with code 1',
    ],
    [
      'kills itself',
      `process.kill(process.pid, 'SIGKILL'); await new Promise(() => setTimeout(() => {}, 60_000))`,
      'was terminated by SIGKILL',
    ],
  ])('one that %s is named, reported and restarted', async (_, body, why) => {
    await using fixture = await pluginFixture({
      ...goodPlugin,
      'bad.mjs': toolModule('bad', `if (input.now) { ${body} } return 'back'`),
    })
    const answer = await fixture.client.call('bad', { now: true })
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: `Plugin "bad.mjs" ${why} during the call. It is restarting; try again, or with less input.` }],
      _meta: { 'io.github.unfold-mcp/reason': 'tool_failed' },
    })
    expect(await fixture.call('good')).toBe('good 1')
    expect(await fixture.client.toolNames()).toEqual(['bad', 'good'])
    expect(await fixture.call('bad')).toBe('back')
    expect(messages(fixture)[0]).toContain(`Plugin "bad.mjs" ${why}. Restarting in 0.1 seconds.`)
    expect(fixture.client.listChanges).toBe(0)
  })

  test('a call waits for a restart whose timer is late, because the machine is busy', async () => {
    await using fixture = await pluginFixture({
      'bad.mjs': toolModule('bad', `if (input.now) process.exit(1); return 'back'`),
    })
    await fixture.client.call('bad', { now: true })
    // Timers do not run meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    expect(await fixture.call('bad')).toBe('back')
  })

  test('a hanging one times out, is killed and restarts', async () => {
    await using fixture = await pluginFixture(
      { ...goodPlugin, 'bad.mjs': toolModule('bad', `if (input.now) for (;;); return 'back'`) },
      { callTimeoutMs: 300 },
    )
    const [before] = pids(fixture)
    const answer = await fixture.client.call('bad', { now: true })
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: 'Tool "bad" of plugin "bad.mjs" timed out after 0.3 seconds. Request less, or try again later.' }],
      _meta: { 'io.github.unfold-mcp/reason': 'tool_timeout' },
    })
    expect(await fixture.call('good')).toBe('good 1')
    await fixture.until('it was ended', () => before !== undefined && !isRunning(before))
    await fixture.until('it is back', async () => (await fixture.call('bad')) === 'back')
    expect(messages(fixture)[0]).toContain('Plugin "bad.mjs" was stopped because it did not respond.')
  })

  test('one whose call times out but which still responds keeps running', async () => {
    const body = `if (input.now) await new Promise((_, fail) => ctx.signal.addEventListener('abort', () => { console.log('aborted'); fail(ctx.signal.reason) })); return 'here'`
    await using fixture = await pluginFixture({ 'slow.mjs': toolModule('slow', body) }, { callTimeoutMs: 200 })
    const before = pids(fixture)
    expect(await fixture.call('slow', { now: true })).toContain('timed out after 0.2 seconds')
    await fixture.until('the handler is aborted', () => fixture.output.includes('slow.mjs: aborted'))
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(await fixture.call('slow')).toBe('here')
    expect(pids(fixture)).toEqual(before)
    expect(fixture.reports).toEqual([])
  })

  test('one that hangs while loading times out', async () => {
    // Blocks the event loop as `for (;;);` does, but uses no CPU time, so that the time limit can be longer than a busy machine needs
    // to load the other plugin.
    const blocked = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'
    await using fixture = await pluginFixture({ ...goodPlugin, 'bad.mjs': blocked }, { loadTimeoutMs: 5_000 })
    expect(messages(fixture)).toEqual(['Plugin "bad.mjs" was not loaded: it did not load within 5 seconds.'])
    expect(await fixture.call('good')).toBe('good 1')
    expect(fixture.plugins.plugins()[0]).toMatchObject({ key: 'bad.mjs', state: 'failed', tools: [] })
  })

  test.each([
    ['in its heap', `const all = []; for (;;) all.push(new Array(1_000_000).fill(all.length))`],
    ['outside its heap', `const all = []; for (let i = 0; i < 16; i++) all.push(Buffer.alloc(1 << 26, i)); for (;;) all[0][0]++`],
  ])('one that allocates a gigabyte %s is killed', async (_, body) => {
    await using fixture = await pluginFixture(
      { ...goodPlugin, 'bad.mjs': toolModule('bad', `if (input.now) { ${body} } return 'back'`) },
      { memoryMb: 64 },
    )
    const answer = await fixture.call('bad', { now: true })
    expect(answer).toMatch(/^Plugin "bad\.mjs" (?:was terminated by \w+|exited with code \d+) during the call\./)
    expect(await fixture.call('good')).toBe('good 1')
    await fixture.until('it is back', async () => (await fixture.call('bad')) === 'back')
    expect(messages(fixture)[0]).toMatch(/Memory limit exceeded|heap out of memory/)
  })

  test('output of one that floods is cut off', async () => {
    await using fixture = await pluginFixture({
      'bad.mjs': toolModule('bad', `for (let i = 0; i < 5_000; i++) console.log('line ' + i + '\\u001b[31m'); return 'done'`),
    })
    expect(await fixture.call('bad')).toBe('done')
    await fixture.until('all was read', () => fixture.output.length > 200)
    expect(fixture.output).toHaveLength(201)
    expect(fixture.output[0]).toBe('bad.mjs: line 0\\u{1b}[31m')
    expect(fixture.output.at(-1)).toContain('further lines are dropped')
  })

  test('a result that is too large is an error, and one that writes too much to its pipe is killed', async () => {
    const body = `if (input.rude) { (await import('node:fs')).writeSync(3, 'x'.repeat(300_000)); await new Promise(() => setTimeout(() => {}, 60_000)) } return 'x'.repeat(input.size)`
    await using fixture = await pluginFixture({ ...goodPlugin, 'bad.mjs': toolModule('bad', body) }, { maxMessageBytes: 100_000 })
    expect(await fixture.call('bad', { size: 200_000 })).toBe('The result exceeds 100000 bytes. Request less.')
    expect(await fixture.call('bad', { size: 5 })).toBe('xxxxx')
    expect(await fixture.call('bad', { text: 'y'.repeat(200_000) })).toBe('The arguments exceed 100000 bytes. Send less.')
    expect(await fixture.call('bad', { rude: true })).toContain('was stopped because it sent a message of more than 100000 bytes')
    expect(await fixture.call('good')).toBe('good 1')
  })

  test('an unusable result is an error that names it', async () => {
    await using fixture = await pluginFixture({
      'bad.mjs': toolModule('bad', `return input.big ? { n: 1n } : input.map ? new Map() : [5]`),
    })
    expect(await fixture.call('bad', { big: true })).toContain('Plugin "bad.mjs": Do not know how to serialize a BigInt')
    expect(await fixture.call('bad')).toContain('Tool "bad" returned an invalid result: it returned an array')
    expect(await fixture.call('bad', { map: true })).toContain(
      'Tool "bad" returned an invalid result: it returned an instance of Map',
    )
  })

  test('one that keeps exiting restarts with a growing delay, and its tools stay listed', async () => {
    // With a stopped clock no run counts as stable.
    await using fixture = await pluginFixture({ 'bad.mjs': toolModule('bad', 'process.exit(1)') }, { now: () => 0 })
    for (let round = 0; round < 5; round++) await fixture.call('bad')
    await fixture.until('it waits', () => fixture.plugins.plugins()[0]?.state === 'restarting')
    const delays = messages(fixture).map((message) => /Restarting in ([\d.]+) seconds/.exec(message)?.[1])
    expect(delays).toEqual(['0.1', '0.2', '0.4', '0.8', '1.6'])
    expect(await fixture.call('bad')).toBe(
      'Plugin "bad.mjs" is not running: it exited unexpectedly. It restarts in 1.6 seconds; try again then.',
    )
    expect(await fixture.client.toolNames()).toEqual(['bad'])
  })
})

describe('progress, logs and cancellation', () => {
  test('are forwarded', async () => {
    await using fixture = await pluginFixture({
      'a.mjs': toolModule('a', `ctx.progress(1, 2, 'half'); ctx.progress(2, 2, 'whole'); return 'done'`),
    })
    const updates: unknown[] = []
    await fixture.client.client.callTool({ name: 'a' }, { onprogress: (progress) => void updates.push(progress) })
    expect(updates).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2, message: 'whole' },
    ])
  })

  test('cancellation reaches the handler', async () => {
    const body = `console.log('begun'); await new Promise((done) => ctx.signal.addEventListener('abort', done)); console.log('cancelled'); return ''`
    await using fixture = await pluginFixture({ 'a.mjs': toolModule('a', body) })
    const controller = new AbortController()
    const answer = fixture.client.client.callTool({ name: 'a' }, { signal: controller.signal }).catch(() => 'cancelled')
    await fixture.until('it began', () => fixture.output.includes('a.mjs: begun'))
    controller.abort()
    expect(await answer).toBe('cancelled')
    await fixture.until('the handler is aborted', () => fixture.output.includes('a.mjs: cancelled'))
  })
})

describe('paths that resolve outside the folder are rejected', () => {
  async function outside(make: (folder: string, elsewhere: string) => Promise<void>): Promise<string[]> {
    const elsewhere = await mkdtemp(join(tmpdir(), 'unfold-elsewhere-'))
    try {
      await writeFile(join(elsewhere, 'evil.mjs'), toolModule('evil'))
      await writeFile(join(elsewhere, 'plugin.json'), '{"main":"evil.mjs"}')
      await using fixture = await pluginFixture({ 'good.mjs': toolModule('good') })
      await make(fixture.folder, elsewhere)
      await fixture.plugins.rescan()
      await fixture.until('it is reported', () => fixture.reports.length > 0)
      expect(await fixture.client.toolNames()).toEqual(['good'])
      return messages(fixture)
    } finally {
      await rm(elsewhere, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  }
  const refusal = 'it resolves to a path outside its folder. Copy it into the folder.'

  test('a linked module', async () => {
    const reported = await outside((folder, elsewhere) => symlink(join(elsewhere, 'evil.mjs'), join(folder, 'evil.mjs')))
    expect(reported).toEqual([`Plugin "evil.mjs" was not loaded: ${refusal}`])
  })

  test('a linked folder', async () => {
    const reported = await outside((folder, elsewhere) => symlink(elsewhere, join(folder, 'evil')))
    expect(reported).toEqual([`Plugin "evil" was not loaded: ${refusal}`])
  })

  test.each(['relative', 'absolute', 'linked'])('a manifest with a %s path', async (kind) => {
    const reported = await outside(async (folder, elsewhere) => {
      await mkdir(join(folder, 'pack'))
      await symlink(join(elsewhere, 'evil.mjs'), join(folder, 'pack', 'linked.mjs'))
      const evil = join(elsewhere, 'evil.mjs')
      const main = { relative: join('..', '..', evil.slice(tmpdir().length + 1)), absolute: evil, linked: 'linked.mjs' }[kind]
      await writeFile(join(folder, 'pack', 'plugin.json'), JSON.stringify({ main }))
    })
    expect(reported).toEqual([`Plugin "pack" was not loaded: ${refusal}`])
  })

  test('a manifest that names the module of another plugin', async () => {
    const reported = await outside(async (folder) => {
      await mkdir(join(folder, 'pack'))
      await writeFile(join(folder, 'pack', 'plugin.json'), JSON.stringify({ main: '../good.mjs' }))
    })
    expect(reported).toEqual([`Plugin "pack" was not loaded: ${refusal}`])
  })

  test('a link to itself', async () => {
    const reported = await outside((folder) => symlink(join(folder, 'loop.mjs'), join(folder, 'loop.mjs')))
    expect(reported).toEqual([expect.stringMatching(/^Plugin "loop\.mjs" was not loaded: ELOOP/)])
  })

  test('a link that stays inside is followed', async () => {
    await using fixture = await pluginFixture({ '_real.mjs': toolModule('real') })
    await symlink(join(fixture.folder, '_real.mjs'), join(fixture.folder, 'linked.mjs'))
    await fixture.plugins.rescan()
    expect(await fixture.call('real')).toBe('real 1')
  })
})

describe('invalid manifests', () => {
  test('disable only their plugin', async () => {
    await using fixture = await pluginFixture({ 'pack/plugin.json': '{', 'good.mjs': toolModule('good') })
    expect(messages(fixture)).toEqual([expect.stringContaining('Plugin "pack" was not loaded: plugin.json is not valid JSON:')])
    expect(await fixture.client.toolNames()).toEqual(['good'])
  })

  test('an unchanged failure is reported once, however often the folder is scanned', async () => {
    await using fixture = await pluginFixture({ 'pack/plugin.json': '{' })
    for (let round = 0; round < 3; round++) await fixture.plugins.rescan()
    expect(fixture.reports).toHaveLength(1)
  })
})

describe('name clashes', () => {
  test('between plugins: the first by name is served, and the clash is reported', async () => {
    await using fixture = await pluginFixture({
      'a.mjs': toolModule('same', `return 'from a'`),
      'b.mjs': toolModule('same', `return 'from b'`),
    })
    expect(await fixture.client.toolNames()).toEqual(['same'])
    expect(await fixture.call('same')).toBe('from a')
    expect(fixture.reports).toEqual([
      {
        reason: 'name_clash',
        message: 'Tool "same" of plugin b.mjs is not served: plugin a.mjs has one of that name. Rename one of them.',
      },
    ])
    await fixture.remove('a.mjs')
    await fixture.until('the other is served', async () => (await fixture.call('same')) === 'from b')
  })

  test('with a tool of the toolbox: the toolbox wins', async () => {
    await using fixture = await pluginFixture(
      { 'a.mjs': toolModule('same') },
      {
        toolbox: (plugins) =>
          defineToolbox({ name: 'hub', version: '1', report: () => undefined })
            .tool('same', {}, () => 'own')
            .use(plugins),
      },
    )
    expect(await fixture.call('same')).toBe('own')
  })

  test('with a built-in tool: that one tool is rejected, whenever the folder is added', async () => {
    const files = {
      'a.mjs': `const handler = () => 'x'\nexport default [{ name: 'call_tool', handler }, { name: 'fine', handler }]`,
    }
    await using fixture = await pluginFixture(files)
    expect(await fixture.client.toolNames()).toEqual(['fine'])
    expect(messages(fixture)).toEqual([expect.stringContaining('Tool "call_tool" of plugin a.mjs is not served:')])
    // The plugins are already loaded when the second toolbox adds the folder.
    expect(() => defineToolbox({ name: 'late', version: '1' }).use(fixture.plugins)).not.toThrow()
  })

  test('with an unknown group: the tool is rejected', async () => {
    await using fixture = await pluginFixture({ 'a.mjs': `export default [{ name: 'a', group: 'nowhere', handler() {} }]` })
    expect(await fixture.client.toolNames()).toEqual([])
    expect(messages(fixture)).toEqual([expect.stringContaining('Tool "a" of plugin a.mjs is not served:')])
  })
})

test('tools of a group are listed when it is activated', async () => {
  await using fixture = await pluginFixture(
    {
      'a.mjs': `export default { group: 'extra', tools: [{ name: 'a', handler: () => 'x' }, { name: 'b', group: 'more', handler: () => 'y' }] }`,
    },
    {
      toolbox: (plugins) =>
        defineToolbox({
          name: 'hub',
          version: '1',
          groups: { extra: { description: 'Extra' }, more: { description: 'More' } },
        }).use(plugins),
    },
  )
  await fixture.client.call('activate_extra')
  expect(await fixture.client.toolNames()).toContain('a')
  expect(await fixture.client.toolNames()).not.toContain('b')
})

test('plugins beyond the limit are rejected by name', async () => {
  await using fixture = await pluginFixture({ 'a.mjs': toolModule('a'), 'b.mjs': toolModule('b') }, { maxPlugins: 1 })
  expect(await fixture.client.toolNames()).toEqual(['a'])
  expect(messages(fixture)).toEqual(['Plugin "b.mjs" was not loaded: the folder has more than 1 plugins.'])
})

test('a missing folder throws at once', () => {
  expect(() => pluginFolder('/nowhere/at/all')).toThrow('does not exist')
})

test('removing the folder removes its tools, and it is watched again when it is restored', async () => {
  await using fixture = await pluginFixture({ 'a.mjs': toolModule('a') }, { rescanMs: 100 })
  await rm(fixture.folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
  await fixture.until('its tools are gone', async () => (await fixture.client.toolNames()).length === 0)
  // The plugin may be deleted, and its tools removed, some time before the folder.
  await fixture.until('it is reported', () => messages(fixture).length > 0)
  expect(messages(fixture)).toEqual([expect.stringContaining('the folder cannot be read')])
  await fixture.save('b.mjs', toolModule('b'))
  await fixture.until('it is back', async () => (await fixture.client.toolNames()).includes('b'))
})

describe('no process outlives', () => {
  test('the folder, whatever its plugins were doing when it was closed', async () => {
    const fixture = await pluginFixture({
      'idle.mjs': toolModule('idle'),
      'busy.mjs': toolModule('busy', `console.log('busy'); for (;;);`),
      'parent.mjs': toolModule(
        'parent',
        'return String(child.pid)',
        `import { spawn } from 'node:child_process'\nconst child = spawn('sleep', ['600'])`,
      ),
    })
    const grandchild = Number(await fixture.call('parent'))
    void fixture.call('busy').catch(() => undefined)
    await fixture.until('it is busy', () => fixture.output.includes('busy.mjs: busy'))
    const all = [...pids(fixture), grandchild]
    expect(all.filter(isRunning)).toHaveLength(4)
    await fixture[Symbol.asyncDispose]()
    await fixture.until('all are gone', () => !all.some(isRunning))
  })

  test('a removed plugin', async () => {
    await using fixture = await pluginFixture({ 'a.mjs': toolModule('a') })
    const all = pids(fixture)
    await fixture.remove('a.mjs')
    await fixture.until('its process is gone', () => !all.some(isRunning))
  })
})
