import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ElicitResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Home, home } from '../../cli/test/command.ts'
import { type GatewayProcess, startGatewayProcess } from '../../cli/test/gateway-process.ts'
import { until } from '../../client/test/processes.ts'
import { createToken } from '../src/config/tokens.ts'
import { everything, type Person, person } from './proxy-clients.ts'
import { server } from './upstreams.ts'

// Several processes start, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const ann = createToken('ann')
const bob = createToken('bob', { profile: 'reader' })
const reviewer = createToken('rita', { role: 'reviewer' })

const scripts = {
  'add_three.ts': `export const description = 'Adds three numbers, with the reference server.'
export const annotations = { readOnlyHint: true }
export const input = {
  type: 'object',
  properties: { numbers: { type: 'array', items: { type: 'number' }, minItems: 3, maxItems: 3 } },
  required: ['numbers'],
}
export const output = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

interface Input { numbers: [number, number, number] }

export default async function ({ numbers: [a, b, c] }: Input) {
  const first: string = await tools.everything.get_sum({ a, b })
  const sum = Number(/ is (-?[0-9.]+)/.exec(first)?.[1])
  return { text: await tools.everything.get_sum({ a: sum, b: c }) }
}
`,
  'write_two.js': `export const description = 'Writes two lines.'
export const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
export default async ({ text }) => {
  await tools.fx.write({ text: text + ' one' })
  return tools.fx.write({ text: text + ' two' })
}
`,
  'use_held.ts': `export const description = 'Tries to use a tool that waits for review.'
export const annotations = { readOnlyHint: true }
export default () => Promise.all(
  ['held__read-line', 'held.read_line'].map((name) => tools[name]({ text: 'held' }).catch((error: ToolError) => error.reason)))
`,
  'use_write.ts': `export const description = 'Tries to use what its caller may not call.'
export const annotations = { readOnlyHint: true }
export default async () => {
  const errors: string[] = []
  for (const name of ['fx__allowed', 'fx__long', 'everything__echo'])
    await tools[name]({ text: 'x' }).catch((error: ToolError) => errors.push(error.reason))
  return { errors, read: await tools.fx.read_line({ text: 'by ' + (await search('write', { limit: 50 })).length }) }
}
`,
  'granted.ts': `export const description = 'Uses a tool that its caller lacks.'
export const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
export default ({ text }: { text: string }) => tools.fx.allowed({ text })
`,
}

const broken = `export const description = 'Broken.'
export default async () => {
  await tools.fx.read_line({)
}
`

let at: Home
let gateway: GatewayProcess

const folder = (name = ''): string => join(at.folder, 'scripts', name)
const lines = async (): Promise<readonly string[]> =>
  (await readFile(join(at.folder, 'effects.txt'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
const countOf = async (line: string): Promise<number> => (await lines()).filter((each) => each === line).length
const answer = ({ message }: { readonly message: string }): ElicitResult =>
  message.startsWith('A script') ? { action: 'accept', content: { decision: 'Run these calls' } } : { action: 'decline' }
const client = (options: Partial<Person> & Pick<Person, 'era'>) => person(gateway.url, { token: ann.token, answer, ...options })
const review = (...args: readonly string[]) => at.unfold(['review', ...args], { env: { UNFOLD_TOKEN: reviewer.token } })

const config = (more: object = {}): object => ({
  exposure: 'everything',
  audit: { path: 'audit.jsonl', arguments: 'full' },
  tokens: [ann.record, bob.record, reviewer.record],
  profiles: { reader: { servers: ['scripts'], tools: ['fx__read-line'] } },
  policy: {
    rules: [
      { effect: 'allow', server: 'everything' },
      { effect: 'allow', server: 'fx', tool: 'allowed' },
    ],
  },
  scripts: { grants: { granted: ['fx__allowed'] } },
  mcpServers: {
    fx: server('script-effects.mjs', join(at.folder, 'effects.txt')),
    held: { ...server('script-effects.mjs', join(at.folder, 'effects.txt')), trust: 'review' },
    everything: everything(),
  },
  ...more,
})

async function names(token = ann.token): Promise<readonly string[]> {
  await using each = await client({ era: 'stateless', token })
  return (await each.client.listTools(undefined, { cacheMode: 'bypass' })).tools.map(({ name }) => name)
}

beforeAll(async () => {
  at = await home()
  await mkdir(folder())
  for (const [name, code] of Object.entries(scripts)) await writeFile(folder(name), code)
  await writeFile(folder('broken.ts'), broken)
  await writeFile(folder('build.js'), "import { rm } from 'node:fs'\nrm('dist', () => undefined)\n")
  gateway = await startGatewayProcess(at, config())
  await until(async () => (await names()).some((name) => name === 'fx__write'), 'the servers have their tools')
  await until(async () => (await names()).some((name) => name === 'everything__get-sum'), 'the reference server has its tools')
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await at[Symbol.asyncDispose]()
})

describe('review', () => {
  test('AT-K50-1 (Y50): new scripts wait for a person, who sees their code; broken ones are reported with line and column', async () => {
    expect((await names()).filter((name) => name.startsWith('scripts__'))).toEqual([])
    const { stdout } = await review('scripts')
    expect(stdout).toContain('tools.fx.write')
    expect(stdout).not.toContain('build')
    expect(gateway.stderr()).toMatch(/broken\.ts:3:\d+ SyntaxError/u)
    const status = await at.unfold(['status', '--json'], { env: { UNFOLD_TOKEN: reviewer.token } })
    expect(status.stdout).toContain('broken.ts:3:')
    expect((await review('--approve', 'scripts', '--yes')).stdout).toContain('Approved 5')
    await until(async () => (await names()).some((name) => name.startsWith('scripts__')), 'the scripts are served')
    expect((await names()).filter((name) => name.startsWith('scripts__')).sort()).toEqual(
      ['add_three', 'granted', 'use_held', 'use_write', 'write_two'].map((name) => `scripts__${name}`),
    )
  })

  test('clients get the definition without the code', async () => {
    await using ada = await client({ era: 'stateless' })
    const { tools } = await ada.client.listTools(undefined, { cacheMode: 'bypass' })
    const tool = tools.find(({ name }) => name === 'scripts__add_three')
    expect(tool).toMatchObject({ description: scripts['add_three.ts'].slice(28, 74), outputSchema: { required: ['text'] } })
    expect(JSON.stringify(tools)).not.toContain('get_sum')
  })
})

describe.each(['session', 'stateless'] as const)('a %s client', (era) => {
  test('AT-K50-2: a script uses the tools of a server from npm', async () => {
    await using ada = await client({ era })
    const result = await ada.client.callTool({ name: 'scripts__add_three', arguments: { numbers: [1, 2, 4] } })
    expect(result.structuredContent).toEqual({ text: 'The sum of 3 and 4 is 7.' })
    const invalid = await ada.client.callTool({ name: 'scripts__add_three', arguments: { numbers: [1] } })
    expect(invalid).toMatchObject({ isError: true })
  })

  test('AT-K50-3: its writes are confirmed like those of run_code, and happen once', async () => {
    await using ada = await client({ era })
    const text = `stored ${era}`
    expect(await ada.text('scripts__write_two', { text })).toBe(`wrote ${text} two`)
    expect(ada.asked.map(({ message }) => message)).toEqual([
      expect.stringContaining('fx__write (1 call)'),
      expect.stringContaining('fx__write (1 call)'),
    ])
    expect([await countOf(`${text} one`), await countOf(`${text} two`)]).toEqual([1, 1])
  })

  test('AT-S15-30 (Y51): it never reaches a tool that waits for review', async () => {
    await using ada = await client({ era })
    expect(JSON.parse(await ada.text('scripts__use_held'))).toEqual(['unknown_tool', 'unknown_tool'])
    expect(await countOf('read held')).toBe(0)
  })

  test('AT-S15-31: it does not reach what its caller may not call, unless the configuration grants it to this script', async () => {
    await using reader = await client({ era, token: bob.token })
    expect(JSON.parse(await reader.text('scripts__use_write'))).toMatchObject({
      errors: ['unknown_tool', 'unknown_tool', 'unknown_tool'],
      read: expect.stringContaining('wrote read by') as unknown,
    })
    const text = `granted ${era}`
    expect(await reader.text('scripts__granted', { text })).toBe(`wrote ${text}`)
    expect(await countOf(text)).toBe(1)
    await expect(reader.text('fx__allowed', { text })).rejects.toThrow('fx__allowed')
  })
})

test('AT-S15-32: two clients that run one script at the same time share nothing', async () => {
  await using ada = await client({ era: 'stateless' })
  await using bert = await client({ era: 'stateless', token: bob.token })
  const [one, other] = await Promise.all([ada.text('scripts__use_write'), bert.text('scripts__use_write')])
  expect(JSON.parse(one)).toMatchObject({ errors: ['tool_failed'] })
  expect(JSON.parse(other)).toMatchObject({ errors: ['unknown_tool', 'unknown_tool', 'unknown_tool'] })
})

test('AT-K50-4: the audit log has the run, and its calls refer to it', async () => {
  await using ada = await client({ era: 'stateless' })
  await ada.text('scripts__add_three', { numbers: [5, 6, 7] })
  const records = async (type: string): Promise<readonly Record<string, unknown>[]> =>
    (JSON.parse((await at.unfold(['audit', '--json', '--type', type])).stdout) as { records: Record<string, unknown>[] }).records
  const script = (await records('script')).at(-1)
  expect(script).toMatchObject({ stored: 'add_three', outcome: 'returned', calls: 2, client: 'token:ann' })
  const calls = (await records('call')).filter((call) => call.script === script?.script)
  expect(calls).toMatchObject([
    { upstream: 'everything', tool: 'get-sum', line: 13 },
    { upstream: 'everything', tool: 'get-sum', line: 15 },
  ])
  expect((await records('call')).at(-1)).toMatchObject({ upstream: 'scripts', tool: 'add_three', outcome: 'ok' })
})

describe('on the command line', () => {
  test('AT-K52-1 (Y52): lists the scripts with their state, and broken ones with line and column', async () => {
    const { code, stdout } = await at.unfold(['script', 'list', '--json'])
    expect(code).toBe(1)
    const { scripts: listed, problems } = JSON.parse(stdout) as { scripts: object[]; problems: object[] }
    expect(listed).toContainEqual(expect.objectContaining({ name: 'add_three', state: 'served' }))
    expect(problems).toEqual([expect.objectContaining({ file: folder('broken.ts'), line: 3 })])
    expect((await at.unfold(['script', 'list'])).stdout).toMatch(/add_three +served +Adds three numbers/u)
  })

  test('AT-K52-2: tests a script with recorded calls, without any server', async () => {
    const sum = (a: number, b: number): object => ({
      tool: 'everything.get_sum',
      arguments: { a, b },
      result: `The sum of ${a} and ${b} is ${a + b}.`,
    })
    const cases = [
      {
        name: 'adds',
        input: { numbers: [1, 2, 4] },
        calls: [sum(1, 2), sum(3, 4)],
        result: { text: 'The sum of 3 and 4 is 7.' },
      },
      {
        name: 'passes on errors',
        input: { numbers: [1, 2, 4] },
        calls: [{ tool: 'everything__get-sum', error: 'busy' }],
        error: 'busy',
      },
    ]
    await writeFile(folder('add_three.calls.json'), JSON.stringify(cases))
    const passed = await at.unfold(['script', 'test', 'add_three'])
    expect(passed).toMatchObject({ code: 0, stdout: expect.stringContaining('2 tests passed') as unknown })
    const wrong = { ...cases[0], calls: [sum(1, 2), sum(9, 9)], result: 8 }
    await writeFile(folder('add_three.calls.json'), JSON.stringify(wrong))
    const failed = await at.unfold(['script', 'test', '--json'])
    expect(failed.code).toBe(1)
    expect(JSON.parse(failed.stdout)).toMatchObject({
      isPassed: false,
      tests: [
        {
          script: 'add_three',
          problems: [
            'Line 15: a call is not recorded: everything.get_sum({"a":3,"b":4})',
            'The call of everything.get_sum was not made.',
            expect.stringContaining('This call is not recorded. (line 15'),
          ],
        },
      ],
    })
    expect(await at.unfold(['script', 'test', 'granted'])).toMatchObject({ code: 2 })
  })

  test('AT-K52-3: creates a script from a successful run in the audit log, which waits for review', async () => {
    await using ada = await person(`${gateway.url}?exposure=code`, { era: 'session', token: ann.token, answer })
    const code = `const lines: string[] = await Promise.all(input.texts.map((text: string) => tools.fx.read_line({ text })))\nreturn lines`
    await ada.text('run_code', { code, input: { texts: ['saved'] } })
    const { records } = JSON.parse((await at.unfold(['audit', '--json', '--type', 'script'])).stdout) as {
      records: { script: string; outcome: string; arguments?: { code: string } }[]
    }
    const { script = '' } = records.at(-1) ?? {}
    expect((await at.unfold(['script', 'from', script, 'saved_run'])).code).toBe(0)
    const saved = await readFile(folder('saved_run.ts'), 'utf8')
    expect(saved).toContain(code)
    expect(saved).toContain('texts: {')
    await until(async () => (await review('scripts')).stdout.includes('saved_run'), 'the script is offered for review')
    const why = JSON.parse((await at.unfold(['why', 'scripts__saved_run', '--json'])).stdout) as { checks: readonly object[] }
    expect(why).toMatchObject({ isUsable: false, cause: 'trust' })
    // What its name would be says nothing about the configuration.
    expect(why.checks).toMatchObject([{ check: 'availability' }, { check: 'trust' }])
    expect((await review('--approve', 'scripts/saved_run', '--yes')).code).toBe(0)
    await until(async () => (await names()).includes('scripts__saved_run'), 'the script is served')
    expect(JSON.parse(await ada.text('scripts__saved_run', { texts: ['again'] }))).toEqual(['wrote read again'])
    expect(await at.unfold(['script', 'from', script, 'saved_run'])).toMatchObject({ code: 2 })
    const failing = 'throw new Error("no")'
    await ada.text('run_code', { code: failing })
    const last = (await at.unfold(['audit', '--json', '--type', 'script', '--limit', '1'])).stdout
    const [failed] = (JSON.parse(last) as { records: { seq: number }[] }).records
    expect((await at.unfold(['script', 'from', String(failed?.seq)])).stderr).toContain('That script failed')
  })
})

test('AT-K50-5: a changed script waits again, a removed one is gone, and one without an error is offered for review', async () => {
  await writeFile(folder('write_two.js'), scripts['write_two.js'].replace('two lines', 'a few lines'))
  await rm(folder('use_held.ts'))
  await writeFile(folder('broken.ts'), broken.replace('{)', '{})'))
  await until(async () => {
    const listed = await names()
    return !listed.includes('scripts__write_two') && !listed.includes('scripts__use_held')
  }, 'the changes are noticed')
  expect(await names()).toContain('scripts__add_three')
  await until(async () => (await review('scripts')).stdout.includes('broken'), 'the script is offered for review')
  const { stdout } = await review('scripts')
  expect(stdout).toContain('[-two-]{+a few+} lines')
  expect((await review('--approve', 'scripts/write_two', '--yes')).code).toBe(0)
  await until(async () => (await names()).includes('scripts__write_two'), 'the approved script is served')
  expect(await names()).not.toContain('scripts__broken')
})

test('AT-K50-6: scripts survive a restart, and what was changed in between waits', async () => {
  await gateway.end()
  await writeFile(folder('granted.ts'), scripts['granted.ts'].replace('Uses a tool', 'Uses a sneaky tool'))
  gateway = await startGatewayProcess(at, undefined)
  await until(async () => (await names()).includes('scripts__add_three'), 'the scripts are served')
  await until(async () => (await review('scripts')).stdout.includes('sneaky'), 'the change is offered for review')
  expect(await names()).not.toContain('scripts__granted')
})
