import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ElicitResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Home, home } from '../../cli/test/command.ts'
import { type GatewayProcess, startGatewayProcess } from '../../cli/test/gateway-process.ts'
import { person as terminal } from '../../cli/test/terminal.ts'
import { until } from '../../client/test/processes.ts'
import type { ApprovalReport } from '../src/admin/approvals.ts'
import { createToken } from '../src/config/tokens.ts'
import { person } from './proxy-clients.ts'
import { server } from './upstreams.ts'

const eras = ['session', 'stateless'] as const
const secret = 'correct-horse-battery-staple'
const reviewer = createToken('rita', { role: 'reviewer' })
const viewer = createToken('vera', { role: 'viewer' })
const reason = 'Writing needs a person.'

let at: Home
let gateway: GatewayProcess

const effects = async (): Promise<readonly string[]> =>
  (await readFile(join(at.folder, 'effects.txt'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
const countOf = async (line: string): Promise<number> => (await effects()).filter((each) => each === line).length

/** A user who chooses from the form, and answers other questions. */
const choosing =
  (choice: string) =>
  ({ message }: { readonly message: string }): ElicitResult =>
    message.startsWith('Allow this call?')
      ? { action: 'accept', content: { decision: choice } }
      : { action: 'accept', content: { name: 'Ada' } }

type Answer = (question: { readonly message: string }) => ElicitResult | Promise<ElicitResult>

/** A user who takes longer than a program. */
const afterReading =
  (result: ElicitResult): Answer =>
  () =>
    pause(1_200, result)

const auth = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
const api = (): URL => new URL('/api/approvals', gateway.url)

const approvals = async (): Promise<readonly ApprovalReport[]> =>
  (await (await fetch(api(), { headers: auth(viewer.token) })).json()) as readonly ApprovalReport[]

/** Answers through the admin API; returns the status of the response. */
async function decide(id: string, token?: string, decision = 'once'): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(token !== undefined && auth(token)) }
  return (await fetch(api(), { method: 'POST', headers, body: JSON.stringify({ id, decision }) })).status
}

/** Ends the questions that earlier tests left open. */
async function denyAll(): Promise<void> {
  for (const { id, state } of await approvals()) if (state === 'pending') await decide(id, reviewer.token, 'deny')
}

async function waiting(text: string): Promise<ApprovalReport> {
  let found: ApprovalReport | undefined
  await until(async () => {
    found = (await approvals()).find(({ state, arguments: given }) => state === 'pending' && given[0]?.value.includes(text))
    return found !== undefined
  }, `the call with ${text} waits`)
  if (found === undefined) throw new Error('not found')
  return found
}

const config = (policy: object = {}): object => ({
  exposure: 'everything',
  reload: 'always',
  audit: { path: 'audit.jsonl' },
  tokens: [reviewer.record, viewer.record],
  policy: { rules: [{ effect: 'ask', tool: ['write', 'sign', 'stall'], reason }], ...policy },
  mcpServers: Object.fromEntries(
    ['session', 'both'].map((era) => [
      era,
      { ...server('effects.mjs', join(at.folder, 'effects.txt'), era), env: { API_TOKEN: secret } },
    ]),
  ),
})

const isListed = async (url: string): Promise<void> => {
  await using client = await person(url, { era: 'session' })
  const names = async (): Promise<string> => JSON.stringify(await client.client.listTools(undefined, { cacheMode: 'bypass' }))
  await until(async () => {
    const all = await names()
    return all.includes('session__write') && all.includes('both__write')
  }, 'the tools are listed')
}

beforeAll(async () => {
  at = await home()
  gateway = await startGatewayProcess(at, config())
  await isListed(gateway.url)
}, 300_000)

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await at[Symbol.asyncDispose]()
})

describe.each(eras)('a %s client that can ask its user', (era) => {
  test.each(['session', 'both'])('AT-S07-2 (Q09): asks before each call of a %s server, which runs once', async (upstream) => {
    const text = `${era}-${upstream}`
    await using ada = await person(gateway.url, { era, answer: choosing('Allow once') })
    expect(await ada.text(`${upstream}__write`, { text: `${text}\u202E${secret}` })).toContain('wrote')
    expect(ada.asked).toHaveLength(1)
    const [question] = ada.asked
    expect(question?.message).toMatch(new RegExp(`^Allow this call\\? Server: ${upstream}, tool: write\nArguments: text: `, 'u'))
    expect(question?.message).toContain(`text: "${text}\\u{202e}[secret]"`)
    expect(question?.message).toContain(`Reason: ${reason}`)
    expect(question?.message).not.toContain(secret)
    // A single approval permits one call, and one changed byte is another call.
    await ada.text(`${upstream}__write`, { text })
    await ada.text(`${upstream}__write`, { text })
    expect(ada.asked).toHaveLength(3)
    expect(await countOf(text)).toBe(2)
    // The server's own question comes after the approval and continues the same call.
    expect(await ada.text(`${upstream}__sign`, { text })).toBe(`wrote ${text} by Ada`)
    expect(ada.asked).toHaveLength(5)
    expect(await countOf(`${text} by Ada`)).toBe(1)
    const refuse = async (action: string, answer: Answer): Promise<void> => {
      await using eve = await person(gateway.url, { era, answer })
      const refused = `${text} ${action}`
      expect(await eve.text(`${upstream}__write`, { text: refused })).toMatch(/was not called: .* the user denied it/u)
      expect(await countOf(refused)).toBe(0)
    }
    await Promise.all([
      refuse('deny', choosing('Deny')),
      refuse('decline', afterReading({ action: 'decline' })),
      refuse('cancel', afterReading({ action: 'cancel' })),
    ])
  })

  test.each(['decline', 'cancel'] as const)('waits in the queue if the client answers "%s" without a user', async (action) => {
    const text = `${era} unattended ${action}`
    await using host = await person(gateway.url, { era, answer: () => ({ action }) })
    const replying = host.text('both__write', { text })
    const { id } = await waiting(text)
    await until(() => host.asked.length === 1, 'the form was declined')
    expect(await decide(id, reviewer.token)).toBe(200)
    expect(await replying).toContain('wrote')
    expect(host.asked).toHaveLength(1)
    expect(await countOf(text)).toBe(1)
  })
})

test('AT-S07-3 (Q10): a repeated answer, and an answer for another call, run nothing', async () => {
  await using ada = await person(gateway.url, { era: 'stateless' })
  const ask = async (text: string): Promise<object> => {
    const result = await ada.client.callTool({ name: 'both__write', arguments: { text } }, { allowInputRequired: true })
    const { requestState } = result as { requestState?: string }
    return { requestState, inputResponses: { approval: { action: 'accept', content: { decision: 'Allow once' } } } }
  }
  const answered = await ask('repeated')
  const repeat = async (text: string): Promise<string> =>
    JSON.stringify(
      await ada.client.callTool({ name: 'both__write', arguments: { text }, ...answered }, { allowInputRequired: true }),
    )
  // One changed byte asks again.
  expect(await repeat('Repeated')).toContain('input_required')
  expect(await effects()).not.toContain('Repeated')
  const both = await Promise.all([repeat('repeated'), repeat('repeated')])
  expect(both.filter((each) => each.includes('wrote repeated'))).toHaveLength(1)
  expect(both.filter((each) => each.includes('may have taken effect'))).toHaveLength(1)
  expect(await repeat('repeated')).toContain('may have taken effect')
  expect(await countOf('repeated')).toBe(1)
})

test('AT-S07-4 (Q11): an approval for a session or for always covers only the same call', async () => {
  const text = 'standing'
  await using ada = await person(gateway.url, { era: 'session', answer: choosing('Allow this call for this session') })
  await ada.text('session__write', { text })
  await ada.text('session__write', { text })
  expect(ada.asked).toHaveLength(1)
  await ada.text('session__write', { text: `${text}.` })
  await ada.text('both__write', { text })
  expect(ada.asked).toHaveLength(3)
  await using bob = await person(gateway.url, { era: 'session', answer: choosing('Always allow this call') })
  await bob.text('session__write', { text })
  expect(bob.asked).toHaveLength(1)
  await using cyd = await person(gateway.url, { era: 'stateless' })
  expect(await cyd.text('session__write', { text })).toBe('wrote standing')
  expect(cyd.asked).toEqual([])
  const always = (await approvals()).find(({ grant }) => grant === 'always')
  expect(always).toMatchObject({ server: 'session', tool: 'write', state: 'approved' })
  const { code } = await at.unfold(['approvals', 'revoke', always?.id ?? ''])
  expect(code).toBe(0)
  await cyd.client.callTool({ name: 'session__write', arguments: { text } }, { allowInputRequired: true })
  expect((await approvals()).filter(({ grant }) => grant === 'always')).toEqual([])
})

describe('a client that cannot ask its user', () => {
  test.each(eras)('AT-S07-5 (Q12): a %s call waits for "unfold approvals", which no program can answer alone', async (era) => {
    await using ada = await person(gateway.url, { era, capabilities: {} })
    const progress: unknown[] = []
    const text = `queued ${era}`
    const call = ada.text('both__write', { text }, { timeout: 300_000, onprogress: ({ message }) => progress.push(message) })
    const { id, decisions } = await waiting(text)
    expect((await at.unfold(['approvals'])).stdout).toMatch(new RegExp(`${id} .*both/write .*waits for an answer`, 'u'))
    expect(decisions?.includes('session')).toBe(era === 'session')
    await until(() => progress.length > 0, 'progress')
    expect(progress[0]).toContain('unfold approvals')
    expect((await at.unfold(['status'])).stdout).toMatch(/[1-9]\d* calls? waiting for approval: unfold approvals/u)
    expect(JSON.parse((await at.unfold(['status', '--json'])).stdout)).toMatchObject({
      pendingCalls: expect.toSatisfy((count: number) => count > 0) as number,
    })
    expect(await (await fetch(new URL('/metrics', gateway.url), { headers: auth(viewer.token) })).text()).toMatch(
      /unfold_approvals_pending [1-9]/u,
    )
    for (const flags of [['--yes'], ['--json', '--no-input']]) {
      const refused = await at.unfold(['approvals', 'approve', id, ...flags])
      expect(refused.code).not.toBe(0)
      expect(refused.stderr).toContain('need a person')
    }
    expect(await decide(id)).toBe(401)
    expect(await decide(id, viewer.token)).toBe(403)
    expect(await effects()).not.toContain(text)
    const env = { UNFOLD_TOKEN: reviewer.token }
    const approved = await at.unfold(['approvals', 'approve', id, '--yes', '--json'], { env })
    expect(JSON.parse(approved.stdout)).toEqual({ decision: 'once', decided: [id] })
    expect(await call).toBe(`wrote ${text}`)
    expect(await decide(id, reviewer.token)).toBe(409)
  })

  test('AT-S07-6: a person at a terminal approves or denies, and both are recorded', async () => {
    await using ada = await person(gateway.url, { era: 'session', capabilities: {} })
    await denyAll()
    await using user = terminal(['approvals', '--watch'], { env: at.env, cwd: at.folder })
    await user.sees('Waiting for calls')
    const allowed = ada.text('session__write', { text: 'allowed at the terminal' })
    await user.sees('allowed at the terminal')
    await user.sees('allow once')
    user.types('o')
    expect(await allowed).toBe('wrote allowed at the terminal')
    const denied = ada.text('session__write', { text: 'denied at the terminal' })
    await user.sees('denied at the terminal')
    await user.sees('deny')
    user.types('d')
    expect(await denied).toContain('the user denied it')
    const { stdout } = await at.unfold(['audit', '--json', '--type', 'approval'])
    const { records } = JSON.parse(stdout) as { readonly records: readonly object[] }
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/u) as string
    const record = { client: 'terminal', caller: 'anonymous (person)', upstream: 'session', tool: 'write' }
    expect(records.slice(-2)).toMatchObject([
      { ...record, outcome: 'approved', grant: 'once', definitionDigest: digest, argumentsDigest: digest, policyDigest: digest },
      { ...record, outcome: 'denied' },
    ])
  })

  test('AT-S07-7: withdraws its questions when it disconnects, and cannot fill the queue', async () => {
    await denyAll()
    const ada = await person(gateway.url, { era: 'session', capabilities: {} })
    const replies: string[] = []
    for (let index = 0; index < 20; index++)
      void ada.text('both__write', { text: `many ${index}` }).then(
        (reply) => replies.push(reply),
        () => undefined,
      )
    const many = async (): Promise<number> =>
      (await approvals()).filter(({ state, arguments: [text] }) => state === 'pending' && text?.value.includes('many')).length
    await until(async () => (await many()) === 16 && replies.length === 4, 'the queue of the client is full')
    for (const reply of replies) expect(reply).toContain('too many calls wait for approval')
    await ada.end()
    await ada.client.close()
    await until(async () => (await many()) === 0, 'the questions are withdrawn')
    expect((await effects()).filter((line) => line.includes('many'))).toEqual([])
  })
})

test('AT-S07-8 (Q13): without an answer in time a call is denied, and a changed policy asks again', async () => {
  const text = 'under another policy'
  await using ada = await person(gateway.url, { era: 'session', answer: choosing('Always allow this call') })
  await ada.text('both__write', { text })
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify(config({ approvalTimeoutMs: 1_000 })))
  expect((await at.unfold(['reload'])).code).toBe(0)
  await ada.text('both__write', { text })
  expect(ada.asked).toHaveLength(2)
  for (const capabilities of [{}, { elicitation: {} }]) {
    await using bob = await person(gateway.url, { era: 'session', capabilities, answer: () => new Promise(() => undefined) })
    const late = `late ${Object.keys(capabilities).length}`
    expect(await bob.text('both__write', { text: late })).toContain('nobody approved it in time')
    expect(await effects()).not.toContain(late)
  }
  await using cyd = await person(gateway.url, {
    era: 'stateless',
    answer: async (question) => {
      await until(async () => (await approvals()).every(({ state }) => state !== 'pending'), 'the question expires')
      return choosing('Allow once')(question)
    },
  })
  expect(await cyd.text('both__write', { text: 'answered late' })).toContain('the answer came too late')
  expect(await effects()).not.toContain('answered late')
  const { stdout } = await at.unfold(['audit', '--json', '--type', 'approval', '--outcome', 'expired'])
  expect((JSON.parse(stdout) as { readonly records: readonly object[] }).records.length).toBeGreaterThanOrEqual(2)
})

test('AT-S07-9 (Q14): after a kill -9 while a call runs, the reply to the same call says that the effect is unknown', async () => {
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify(config()))
  expect((await at.unfold(['reload'])).code).toBe(0)
  const args = { text: 'sent before the kill' }
  {
    await using ada = await person(gateway.url, { era: 'session', answer: choosing('Allow once') })
    ada.text('both__stall', args).catch(() => undefined)
    await until(async () => (await effects()).includes(args.text), 'the call has an effect')
    await gateway.end('SIGKILL')
  }
  await using again = await startGatewayProcess(at, undefined)
  await isListed(again.url)
  await using ada = await person(again.url, { era: 'stateless', answer: choosing('Deny') })
  expect(await ada.text('both__stall', args)).toContain('Whether it took effect is unknown')
  expect(ada.asked).toEqual([])
  expect(await ada.text('both__stall', args)).toContain('the user denied it')
  expect(ada.asked).toHaveLength(1)
  expect(await countOf(args.text)).toBe(1)
})
