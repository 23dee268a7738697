import { expect, test } from 'vitest'
import { SimulatedClock } from '../../test/simulated-clock.ts'
import type { ProxiedCall } from '../middleware/chain.ts'
import { type ApprovalEvent, Approvals } from './approvals.ts'
import { memoryApprovalStore } from './memory-store.ts'

const timeoutMs = 120_000
const sent = { content: [{ type: 'text' as const, text: 'sent' }] }
const verdict = { effect: 'ask', rule: 'policy.rules[0]', reason: undefined } as const

interface Caller {
  readonly progressToken?: string
  readonly client?: string
  readonly elicit?: () => Promise<unknown>
}

function asking() {
  const clock = new SimulatedClock()
  const events: ApprovalEvent[] = []
  const world = { definition: { name: 'write' } as object | undefined, policy: 'one', sent: 0 }
  const approvals = new Approvals({
    store: memoryApprovalStore(),
    definitionOf: () => world.definition,
    policyDigest: () => world.policy,
    timeoutMs: () => timeoutMs,
    redact: (value) => value,
    onEvent: (event) => events.push(event),
    clock,
  })
  const progress: (string | undefined)[] = []
  const call = (input: Readonly<Record<string, unknown>>, { progressToken, client = 'host', elicit }: Caller = {}) => {
    const ctx = {
      era: 'session',
      scope: 'session:1',
      signal: new AbortController().signal,
      meta: progressToken === undefined ? undefined : { progressToken },
      progress: async (_progress: number, _total: unknown, message?: string) => void progress.push(message),
      client: { name: client, capabilities: elicit === undefined ? {} : { elicitation: {} }, ask: elicit },
    }
    const made = { upstream: 'notes', tool: 'write', input, client: undefined, ctx } as unknown as ProxiedCall
    return approvals
      .ask(made, verdict, async () => {
        world.sent++
        return sent
      })
      .catch((error: unknown) => error)
  }
  const pending = async () => (await approvals.list()).filter(({ state }) => state === 'pending')
  const answer = async (decision: 'once' | 'always' | 'deny'): Promise<void> => {
    const [open] = await pending()
    await approvals.decide(open?.id ?? '', decision, { by: 'terminal' })
  }
  return { clock, events, world, approvals, progress, call, pending, answer }
}

test('a host without progress gets a reply before it gives up, and the approval counts for the same call later, once', async () => {
  const { clock, call, answer, world, pending } = asking()
  const first = call({ text: 'a' })
  await clock.run(50_000)
  expect(await first).toMatchObject({
    reason: 'approval_pending',
    message: expect.stringContaining('unfold approvals') as string,
  })
  expect(await pending()).toHaveLength(1)
  await answer('once')
  expect(world.sent).toBe(0)
  expect(await call({ text: 'a' })).toEqual(sent)
  const again = call({ text: 'a' })
  await clock.run(100_000)
  expect(await again).toMatchObject({ reason: 'approval_pending' })
  expect(world.sent).toBe(1)
})

test('an approval that is not used expires', async () => {
  const { clock, call, answer, world, events } = asking()
  const first = call({ text: 'a' })
  await clock.run(50_000)
  await first
  await answer('once')
  await clock.run(50_000 + 10 * 60_000)
  const late = call({ text: 'a' })
  await clock.run(50_000 + 11 * 60_000)
  expect(await late).toMatchObject({ reason: 'approval_pending' })
  expect(world.sent).toBe(0)
  expect(events.map(({ outcome }) => outcome)).toEqual(['asked', 'approved', 'expired', 'asked'])
})

test('a host with progress waits until the question expires', async () => {
  const { clock, call, progress, pending, events } = asking()
  const waiting = call({ text: 'a' }, { progressToken: 'p' })
  await clock.run(timeoutMs - 1)
  expect(progress.length).toBeGreaterThan(10)
  expect(await pending()).toHaveLength(1)
  await clock.run(timeoutMs + 1)
  expect(await waiting).toMatchObject({
    reason: 'denied',
    message: expect.stringContaining('in time. Ask the user to run "unfold approvals --watch"') as string,
  })
  expect(events.map(({ outcome }) => outcome)).toEqual(['asked', 'expired'])
})

test('the queue answers for a client that declares forms and fails to show one', async () => {
  const { clock, call, answer } = asking()
  const waiting = call({ text: 'a' }, { elicit: () => Promise.reject(new Error('method not found')) })
  await clock.run(1_000)
  await answer('once')
  expect(await waiting).toEqual(sent)
})

test('the queue answers for a client that declines before a person could', async () => {
  const { clock, call, answer, world } = asking()
  const waiting = call({ text: 'a' }, { elicit: async () => ({ action: 'decline' }) })
  await clock.run(1_000)
  expect(world.sent).toBe(0)
  await answer('once')
  expect(await waiting).toEqual(sent)
})

test('a person who declines the form denies the call', async () => {
  const { clock, call, world, pending } = asking()
  const declined = new Promise((resolve) => clock.after(1_000, () => resolve({ action: 'decline' })))
  const waiting = call({ text: 'a' }, { elicit: () => declined })
  await clock.run(1_000)
  expect(await waiting).toMatchObject({ message: expect.stringContaining('the user denied it') as string })
  expect(await pending()).toEqual([])
  expect(world.sent).toBe(0)
})

test('an approval does not count for another caller, definition or policy', async () => {
  const { clock, call, answer, world } = asking()
  const first = call({ text: 'a' })
  await clock.run(1_000)
  await answer('always')
  expect(await first).toEqual(sent)
  expect(await call({ text: 'a' })).toEqual(sent)
  const others: unknown[] = [call({ text: 'a' }, { client: 'other host' }), call({ text: 'a', more: 1 })]
  world.definition = { name: 'write', description: 'changed' }
  others.push(call({ text: 'a' }))
  world.definition = { name: 'write' }
  world.policy = 'two'
  others.push(call({ text: 'a' }))
  await clock.run(timeoutMs * 2)
  for (const other of await Promise.all(others)) expect(other).toHaveProperty('reason')
  expect(world.sent).toBe(2)
})

test('a tool that changes while its call waits is not called', async () => {
  const { clock, call, answer, world } = asking()
  const waiting = call({ text: 'a' })
  await clock.run(1_000)
  world.definition = { name: 'write', description: 'changed' }
  await answer('once')
  expect(await waiting).toMatchObject({ message: expect.stringContaining('changed meanwhile') as string })
  expect(world.sent).toBe(0)
})

test('of two identical calls, one approval sends the newer one, and the other asks again', async () => {
  const { clock, call, answer, world, pending } = asking()
  const older = call({ text: 'a' }, { progressToken: 'p' })
  const newer = call({ text: 'a' }, { progressToken: 'p' })
  await clock.run(1_000)
  expect(await pending()).toHaveLength(1)
  await answer('once')
  expect(await newer).toEqual(sent)
  expect(world.sent).toBe(1)
  await clock.run(2_000)
  expect(await pending()).toHaveLength(1)
  await answer('deny')
  expect(await older).toMatchObject({ reason: 'denied' })
  // A model that repeats the call at once does not ask again.
  expect(await call({ text: 'a' })).toMatchObject({ reason: 'denied' })
})

test('without a store, calls that need approval are denied', async () => {
  const approvals = new Approvals({
    store: undefined,
    definitionOf: () => ({}),
    policyDigest: () => '',
    timeoutMs: () => timeoutMs,
    redact: (value) => value,
    onEvent: () => undefined,
    clock: new SimulatedClock(),
  })
  const call = { tool: 'write', ctx: {} } as unknown as ProxiedCall
  await expect(approvals.ask(call, verdict, async () => sent)).rejects.toMatchObject({ reason: 'denied' })
})
