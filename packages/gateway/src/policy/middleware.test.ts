import { expect, test } from 'vitest'
import type { ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import { DeniedError } from '../middleware/denied.ts'
import { policyMiddleware } from './middleware.ts'
import type { Ask, Effect } from './verdict.ts'

const call = { upstream: 'files', tool: 'write\u001b_file', input: {}, ctx: {} } as ProxiedCall
const result: ProxiedResult = { content: [{ type: 'text', text: 'done' }] }

async function run(effect: Effect | undefined, ask?: Ask) {
  let sent = 0
  const verdict = effect && Promise.resolve({ effect, rule: 'policy.rules[2]', reason: 'Because\u001b[31m.' })
  const middleware = policyMiddleware({ decide: () => verdict, ask })
  const send = (): Promise<ProxiedResult> => {
    sent++
    return Promise.resolve(result)
  }
  const outcome = await middleware(call, send).catch((error: unknown) => error)
  return { sent, outcome }
}

test('a call without a policy, or one that is allowed, is sent', async () => {
  expect(await run(undefined)).toEqual({ sent: 1, outcome: result })
  expect(await run('allow')).toEqual({ sent: 1, outcome: result })
})

test('a call of a script that needs confirmation is asked about, unless a rule allows it', async () => {
  const script = { run: 'r', line: 1, confirmation: 'missing' }
  const unconfirmed = { ...call, ctx: { script } } as unknown as ProxiedCall
  const asked = async (rule: string | undefined): Promise<unknown> =>
    policyMiddleware({ decide: () => Promise.resolve({ effect: 'allow', rule, reason: undefined }) })(
      unconfirmed,
      async () => result,
    ).catch((error: unknown) => error)
  expect(await asked('policy.rules[0]')).toBe(result)
  expect(await asked(undefined)).toBeInstanceOf(DeniedError)
  await expect(policyMiddleware({ decide: () => undefined })(unconfirmed, async () => result)).rejects.toThrow(
    'approval of a person',
  )
})

test('a denied call is not sent, and the error names rule and reason without control characters', async () => {
  const { sent, outcome } = await run('deny')
  expect(sent).toBe(0)
  expect(outcome).toBeInstanceOf(DeniedError)
  expect(outcome).toMatchObject({
    rule: 'policy.rules[2]',
    message:
      '"write\\u{1b}_file" was not called: the rule policy.rules[2] denies it. Do not repeat it with these arguments. Reason: Because\\u{1b}[31m.',
  })
})

test('a call that needs approval is sent by whoever asks, and denied if nobody can be asked', async () => {
  expect(await run('ask', (asked, _verdict, next) => next(asked))).toEqual({ sent: 1, outcome: result })
  const { sent, outcome } = await run('ask')
  expect(sent).toBe(0)
  expect(String(outcome)).toContain(
    'the rule policy.rules[2] requires the approval of a person, and nobody could be asked. Reason: Because',
  )
})

test('a policy that fails sends nothing', async () => {
  let sent = 0
  const middleware = policyMiddleware({ decide: () => Promise.reject(new Error('broken')) })
  const send = (): Promise<ProxiedResult> => {
    sent++
    return Promise.resolve(result)
  }
  await expect(middleware(call, send)).rejects.toThrow('broken')
  expect(sent).toBe(0)
})
