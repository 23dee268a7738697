import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ElicitResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Home, home } from '../../cli/test/command.ts'
import { type GatewayProcess, startGatewayProcess } from '../../cli/test/gateway-process.ts'
import { until } from '../../client/test/processes.ts'
import { createToken } from '../src/config/tokens.ts'
import { type Person, person } from './proxy-clients.ts'
import { server } from './upstreams.ts'

const ann = createToken('ann')
const bob = createToken('bob', { profile: 'reader' })
const reviewer = createToken('rita', { role: 'reviewer' })
const secret = 'correct-horse-battery-staple'

let at: Home
let gateway: GatewayProcess

const effects = async (): Promise<readonly string[]> =>
  (await readFile(join(at.folder, 'effects.txt'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
const countOf = async (line: string): Promise<number> => (await effects()).filter((each) => each === line).length

const answering =
  (decision: string) =>
  ({ message }: { readonly message: string }): ElicitResult => {
    if (message.startsWith('A script')) return { action: 'accept', content: { decision } }
    if (message.startsWith('Allow this call?')) return { action: 'accept', content: { decision: 'Allow once' } }
    return { action: 'accept', content: { name: 'Ada' } }
  }

const client = (options: Partial<Person> & Pick<Person, 'era'>) =>
  person(gateway.url, { token: ann.token, answer: answering('Run these calls'), ...options })

const upstream = () => ({ ...server('script-effects.mjs', join(at.folder, 'effects.txt')), env: { API_TOKEN: secret } })

const config = (): object => ({
  exposure: 'code',
  audit: { path: 'audit.jsonl' },
  tokens: [ann.record, bob.record, reviewer.record],
  profiles: { reader: { tools: ['fx__read-line'], exposure: 'code' } },
  policy: {
    rules: [
      { effect: 'allow', tool: ['allowed'] },
      { effect: 'deny', tool: ['denied'], arguments: { required: ['text'] } },
      { effect: 'ask', tool: ['asked'] },
    ],
  },
  mcpServers: { fx: upstream(), loose: { ...upstream(), trust: 'off' } },
})

/** Waits for the call with this text, and approves it on the command line. */
async function approve(text: string, running: GatewayProcess, folder: Home): Promise<void> {
  const approvals = async (): Promise<readonly { id: string; state: string; arguments: readonly { value: string }[] }[]> =>
    (await (
      await fetch(new URL('/api/approvals', running.url), { headers: { authorization: `Bearer ${reviewer.token}` } })
    ).json()) as never
  const found = async () =>
    (await approvals()).find(({ state, arguments: [first] }) => state === 'pending' && first?.value.includes(text) === true)
  await until(async () => (await found()) !== undefined, 'the call waits')
  expect(await countOf(text)).toBe(0)
  const env = { UNFOLD_TOKEN: reviewer.token }
  expect((await folder.unfold(['approvals', 'approve', (await found())?.id ?? '', '--yes'], { env })).code).toBe(0)
}

beforeAll(async () => {
  at = await home()
  gateway = await startGatewayProcess(at, config())
  await isReady()
}, 300_000)

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await at[Symbol.asyncDispose]()
})

async function isReady(): Promise<void> {
  await using ada = await client({ era: 'stateless' })
  const code = `return (await describe(['fx__write', 'loose__write'])).length`
  await until(async () => (await ada.text('run_code', { code })) === '2', 'the servers have their tools')
}

describe.each(['session', 'stateless'] as const)('a %s client', (era) => {
  test('AT-K47-1: lists tools to search, describe and run scripts, and a script reads without a question', async () => {
    await using ada = await client({ era })
    const { tools } = await ada.client.listTools(undefined, { cacheMode: 'bypass' })
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tools', 'run_code', 'read_result'])
    const code = `const lines = await Promise.all(['a', 'b'].map((text) => tools.fx.read_line({ text: text + '${era}' })))
      const { text } = await tools.fx.long()
      return { lines, length: text.length }`
    const value = { lines: [`wrote read a${era}`, `wrote read b${era}`], length: 200_000 }
    expect(JSON.parse(await ada.text('run_code', { code }))).toEqual(value)
    expect(ada.asked).toEqual([])
  })

  test('AT-K47-2: a person is asked once about the writes of a batch, without known secrets', async () => {
    await using ada = await client({ era })
    const code = `await Promise.all([1, 2, 3].map((n) => tools.fx.write({ text: 'batch ${era} ${secret} ' + n })))`
    await ada.text('run_code', { code })
    expect(ada.asked.map(({ message }) => message)).toEqual([expect.stringContaining('fx__write (3 calls)')])
    expect(ada.asked[0]?.message).not.toContain(secret)
    expect((await effects()).filter((line) => line.startsWith(`batch ${era}`))).toHaveLength(3)
  })

  test('AT-K47-3: a rule of the policy replaces the question', async () => {
    await using ada = await client({ era })
    const code = `await tools.fx.allowed({ text: 'allowed ${era}' })
      const denied = await tools.fx.denied({ text: 'denied ${era}' }).catch((error) => error.message)
      await tools.fx.asked({ text: 'asked ${era}' })
      return denied`
    expect(await ada.text('run_code', { code })).toContain('policy.rules[1] denies it')
    expect(ada.asked.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Allow this call\? Server: fx, tool: asked/u),
    ])
    expect([await countOf(`allowed ${era}`), await countOf(`denied ${era}`), await countOf(`asked ${era}`)]).toEqual([1, 0, 1])
  })

  test('AT-S15-20 (Y47): a definition that nobody accepted is not read-only because it says so', async () => {
    await using ada = await client({ era, answer: answering('Deny') })
    const code = `return tools.loose.read_line({ text: 'loose ${era}' }).catch((error) => error.reason)`
    expect(await ada.text('run_code', { code })).toBe('denied')
    expect(ada.asked).toHaveLength(1)
    expect(await countOf(`read loose ${era}`)).toBe(0)
  })

  test('a server asks its own question, and the script continues', async () => {
    await using ada = await client({ era })
    expect(await ada.text('run_code', { code: `return tools.fx.sign({ text: 'signed ${era}' })` })).toBe(
      `wrote signed ${era} by Ada`,
    )
    expect(await countOf(`signed ${era} by Ada`)).toBe(1)
  })

  test('AT-S15-21: a script does not reach what its client may not call', async () => {
    await using reader = await client({ era, token: bob.token })
    const code = `const errors = []
      for (const name of ['fx__write', 'loose__read-line'])
        await tools[name]({ text: 'x' }).catch((error) => errors.push(error.reason))
      return { errors, known: (await search('', { limit: 50 })).map((tool) => tool.name), read: await tools.fx.read_line({ text: 'bob' }) }`
    expect(JSON.parse(await reader.text('run_code', { code }))).toEqual({
      errors: ['unknown_tool', 'unknown_tool'],
      known: expect.not.arrayContaining(['fx__write', 'loose__read-line']) as unknown,
      read: 'wrote read bob',
    })
  })

  test('AT-K47-4: where the client cannot ask, a write waits for "unfold approvals"', async () => {
    await using ada = await client({ era, capabilities: {} })
    const text = `queued ${era}`
    const reply = ada.text('run_code', { code: `return tools.fx.write({ text: '${text}' })` })
    await approve(text, gateway, at)
    expect(await reply).toBe(`wrote ${text}`)
    expect(await countOf(text)).toBe(1)
  })
})

test('AT-K47-6: it also waits without a policy', async () => {
  await using folder = await home()
  const { policy: _, profiles: __, ...without } = config() as Record<string, unknown>
  await using running = await startGatewayProcess(folder, { ...without, tokens: [ann.record, reviewer.record] })
  await using ada = await person(running.url, { token: ann.token, era: 'session', capabilities: {} })
  await until(
    async () => (await ada.text('run_code', { code: 'return (await describe(["fx__write"])).length' })) === '1',
    'ready',
  )
  const reply = ada.text('run_code', { code: `return tools.fx.write({ text: 'no policy' })` })
  await approve('no policy', running, folder)
  expect(await reply).toBe('wrote no policy')
})

test('AT-K47-5: the audit log has the script, and its calls refer to it', async () => {
  await using ada = await client({ era: 'stateless' })
  await ada.text('run_code', { code: `\nawait tools.fx.read_line({ text: 'audited' })` })
  const records = async (type: string): Promise<readonly Record<string, unknown>[]> =>
    (JSON.parse((await at.unfold(['audit', '--json', '--type', type])).stdout) as { records: Record<string, unknown>[] }).records
  const script = (await records('script')).at(-1)
  expect(script).toMatchObject({ outcome: 'returned', calls: 1, client: 'token:ann' })
  expect((await records('call')).at(-1)).toMatchObject({ upstream: 'fx', tool: 'read-line', script: script?.script, line: 2 })
})

type Paused = { readonly requestState?: string; readonly inputRequests?: object }
const confirm = { confirm: { action: 'accept', content: { decision: 'Run these calls' } } }

test('AT-S15-22: a paused script belongs to its token', async () => {
  const code = `return tools.fx.write({ text: 'for ann' })`
  await using ada = await client({ era: 'stateless' })
  const paused = (await ada.client.callTool({ name: 'run_code', arguments: { code } }, { allowInputRequired: true })) as Paused
  expect(Object.keys(paused.inputRequests ?? {})).toEqual(['confirm'])
  await using eve = await client({ era: 'stateless', token: bob.token })
  const stolen = { name: 'run_code', arguments: { code }, requestState: paused.requestState, inputResponses: confirm }
  expect(await eve.client.callTool(stolen as never)).toMatchObject({ isError: true })
  expect(await countOf('for ann')).toBe(0)
  expect(await ada.client.callTool(stolen as never)).not.toMatchObject({ isError: true })
  expect(await countOf('for ann')).toBe(1)
})

test('AT-S15-23 (Y46): kill -9 between pause and answer loses nothing, and kill -9 after a call leaves its effect unknown', async () => {
  const code = `await tools.fx.read_line({ text: 'before the kill' })
    await tools.fx.write({ text: 'after the kill' })
    return tools.fx.stall({ text: 'stalled' }).catch((error) => error.reason)`
  let paused: Paused
  {
    await using ada = await client({ era: 'stateless' })
    paused = (await ada.client.callTool({ name: 'run_code', arguments: { code } }, { allowInputRequired: true })) as Paused
    await gateway.end('SIGKILL')
  }
  gateway = await startGatewayProcess(at, undefined)
  const decision = 'Run these, and further calls of these tools in this script'
  const inputResponses = { confirm: { action: 'accept', content: { decision } } }
  const again = (state?: string): object => ({ name: 'run_code', arguments: { code }, requestState: state, inputResponses })
  await isReady()
  {
    await using ada = await client({ era: 'stateless' })
    // The tool that stalls is another one, so the script pauses again.
    paused = (await ada.client.callTool(again(paused.requestState) as never, { allowInputRequired: true })) as Paused
    expect(await countOf('after the kill')).toBe(1)
    ada.client.callTool(again(paused.requestState) as never).catch(() => undefined)
    await until(async () => (await countOf('stalled')) === 1, 'the call has an effect')
    await gateway.end('SIGKILL')
  }
  gateway = await startGatewayProcess(at, undefined)
  await isReady()
  await using ada = await client({ era: 'stateless' })
  const { content } = await ada.client.callTool(again(paused.requestState) as never)
  expect(content).toEqual([{ type: 'text', text: 'effect_unknown' }])
  expect([await countOf('read before the kill'), await countOf('after the kill'), await countOf('stalled')]).toEqual([1, 1, 1])
  expect(await ada.client.callTool(again(paused.requestState) as never)).toMatchObject({ isError: true })
})
