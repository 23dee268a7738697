import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@unfold-mcp/client'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import type { ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import type { Approval } from './approval.ts'
import { Approvals } from './approvals.ts'
import { sqliteApprovalStore } from './sqlite-store.ts'
import type { ApprovalStore } from './store.ts'

// Random schedules of calls, answers, repeated requests, cancellations, crashes and restarts against the real store. Two invariants: a
// call is sent at most once per approval, and a call whose process died after sending is reported and not sent again.

type Step =
  | { readonly do: 'call'; readonly note: number; readonly as: 'queue' | 'stateless' | 'session' }
  | { readonly do: 'repeat'; readonly which: number; readonly decision: string }
  | { readonly do: 'decide'; readonly which: number; readonly decision: 'once' | 'deny' }
  | { readonly do: 'reply'; readonly which: number; readonly result: 'ok' | 'lost' | 'input' }
  | { readonly do: 'cancel'; readonly which: number }
  | { readonly do: 'crash'; readonly after: number }
  | { readonly do: 'pass'; readonly ms: number }

const which = fc.nat(3)
const decision = fc.constantFrom('Allow once', 'Allow once', 'Deny')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('call'), note: fc.nat(1), as: fc.constantFrom('queue', 'stateless', 'session') }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('repeat'), which, decision }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('decide'), which, decision: fc.constantFrom('once', 'once', 'deny') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('reply'), which, result: fc.constantFrom('ok', 'lost', 'input') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel'), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('crash'), after: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(1_000, 61_000, 200_000, 700_000) }) },
)

let folder: string
let store: ApprovalStore
let schedules = 0
const totals = { sent: 0, unknown: 0, continued: 0 }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-approvals-'))
  store = await sqliteApprovalStore(join(folder, 'approvals.db'))
})

afterAll(async () => {
  await store[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 6; turn++) await new Promise((done) => setImmediate(done))
}

/** All processes of one schedule, and everything that happened. */
class World {
  /** Schedules share a file, so each has its own policy and starts after the approvals of the one before have expired. */
  readonly policy = `policy ${++schedules}`
  time = schedules * 1e9
  readonly timers = new Set<{ at: number; run: () => void }>()
  /** Calls that reached the server, by note, with how they end. */
  readonly running: { readonly note: number; readonly end: (result: 'ok' | 'lost' | 'input') => void }[] = []
  readonly waiting: AbortController[] = []
  /** Results that ask the client to repeat its request. */
  readonly questions: { readonly note: number; readonly state: string; readonly key: string }[] = []
  readonly sent = [0, 0]
  /** Times that a stored approval permitted a request, by note. */
  readonly permitted = [0, 0]
  readonly used = new Map<string, number>()
  /** Digest of the binding, by note. */
  readonly keys = new Map<number, string>()
  readonly instances: string[] = []
  alive = { isDead: false, fuse: Number.POSITIVE_INFINITY }
  approvals!: Approvals

  readonly clock: Clock = {
    now: () => this.time,
    wallTime: () => this.time,
    after: (ms, run) => {
      const timer = { at: this.time + ms, run }
      this.timers.add(timer)
      return () => void this.timers.delete(timer)
    },
  }

  async start(): Promise<void> {
    const instance = `p${this.instances.length}`
    this.instances.push(instance)
    const life = { isDead: false, fuse: Number.POSITIVE_INFINITY }
    this.alive = life
    this.approvals = new Approvals({
      store: this.#mortal(life),
      definitionOf: () => ({ name: 'write', inputSchema: {} }),
      policyDigest: () => this.policy,
      timeoutMs: () => 120_000,
      redact: (value) => value,
      onEvent: () => undefined,
      clock: this.clock,
      sender: { pid: 1, instance },
      isRunning: (sender) => sender.instance === this.instances.at(-1),
    })
    await settled()
  }

  /** The process dies; what it was doing is lost. */
  async restart(): Promise<void> {
    this.alive.isDead = true
    await settled()
    this.running.length = 0
    this.waiting.length = 0
    await this.start()
  }

  /** A store whose answers no longer arrive after its process died. The fuse lets it die after a number of committed changes. */
  #mortal(life: World['alive']): ApprovalStore {
    const whileAlive = async <T>(work: () => Promise<T>): Promise<T> => {
      if (life.isDead) return new Promise<T>(() => undefined)
      const result = await work()
      if (life.fuse-- <= 0) life.isDead = true
      return life.isDead ? new Promise<T>(() => undefined) : result
    }
    return {
      ...store,
      update: (call, change) =>
        whileAlive(async () => {
          let changes: (readonly [Approval | undefined, Approval])[] = []
          const result = await store.update(call, (before) => {
            const made = change(before)
            changes = made[0].map((after) => [before.find(({ id }) => id === after.id), after] as const)
            return made
          })
          for (const [before, after] of changes) if (before !== undefined) this.#observe(before, after)
          return result
        }),
      list: () => whileAlive(() => store.list()),
      find: (id) => whileAlive(() => store.find(id)),
      removeExpired: (now) => whileAlive(() => store.removeExpired(now)),
    }
  }

  #observe(before: Approval, after: Approval): void {
    if (after.state !== 'sent' || before.state === 'sent') return
    const note = Number(after.question.arguments[0]?.value)
    this.keys.set(note, after.call)
    this.permitted[note] = (this.permitted[note] ?? 0) + 1
    if (before.state === 'approved') this.used.set(after.id, (this.used.get(after.id) ?? 0) + 1)
  }

  call(note: number, as: 'queue' | 'stateless' | 'session', inputs: object = {}): Promise<unknown> {
    const life = this.alive
    const abort = new AbortController()
    this.waiting.push(abort)
    const capabilities = as === 'queue' ? {} : { elicitation: {} }
    const ctx = {
      era: as === 'session' ? 'session' : 'stateless',
      scope: 'session:1',
      signal: abort.signal,
      client: { name: 'test', capabilities, ask: () => new Promise(() => undefined) },
      ...inputs,
    }
    const call = { upstream: 'notes', tool: 'write', input: { note }, client: undefined, ctx } as unknown as ProxiedCall
    const send = (): Promise<ProxiedResult> => {
      // A dead process sends nothing.
      if (life.isDead) return new Promise(() => undefined)
      this.sent[note] = (this.sent[note] ?? 0) + 1
      totals.sent++
      return new Promise((resolve, reject) => {
        const results = {
          ok: () => resolve({ content: [] }),
          lost: () => reject(new Error('connection lost')),
          input: () => resolve({ resultType: 'input_required', inputRequests: {}, requestState: 'inner' }),
        }
        this.running.push({ note, end: (result) => results[result]() })
      })
    }
    const verdict = { effect: 'ask', rule: 'policy.rules[0]', reason: undefined } as const
    return this.approvals.ask(call, verdict, send).then(
      (result) => {
        if (life.isDead || !('requestState' in result)) return result
        const [key = ''] = Object.keys((result as { inputRequests?: object }).inputRequests ?? {})
        this.questions.push({ note, state: String(result.requestState), key })
        return result
      },
      (error: unknown) => error,
    )
  }

  pass(ms: number): void {
    this.time += ms
    for (const timer of [...this.timers]) {
      if (timer.at > this.time) continue
      this.timers.delete(timer)
      timer.run()
    }
  }
}

async function play(world: World, each: Step): Promise<void> {
  switch (each.do) {
    case 'call': {
      const isLost = await hasLostCall(world, each.note)
      const before = world.sent[each.note]
      const result = world.call(each.note, each.as)
      await settled()
      if (!isLost || world.alive.isDead) return
      // The effect of the earlier call is unknown, so this one is not sent.
      const reply = await result
      const isReported = typeof reply === 'object' && reply !== null && 'reason' in reply && reply.reason === 'effect_unknown'
      if (world.sent[each.note] !== before || !isReported) throw new Error(`The lost call was not reported: ${String(reply)}`)
      totals.unknown++
      return
    }
    case 'repeat': {
      const question = world.questions[each.which % Math.max(1, world.questions.length)]
      if (question === undefined) return
      const response = { action: 'accept', content: { decision: each.decision } }
      if (question.key === '') totals.continued++
      const inputs = { requestState: question.state, inputResponses: { [question.key]: response } }
      void world.call(question.note, 'stateless', inputs)
      return
    }
    case 'decide': {
      const open = (await store.list()).filter(
        ({ state, question }) => state === 'pending' && question.policyDigest === world.policy,
      )
      const found = open[each.which % Math.max(1, open.length)]
      if (found !== undefined) void world.approvals.decide(found.id, each.decision, { by: 'terminal' })
      return
    }
    case 'reply':
      world.running.splice(each.which % Math.max(1, world.running.length), 1)[0]?.end(each.result)
      return
    case 'cancel':
      world.waiting[each.which % Math.max(1, world.waiting.length)]?.abort()
      return
    case 'crash':
      if (each.after === 0) await world.restart()
      else world.alive.fuse = each.after - 1
      return
    case 'pass':
      world.pass(each.ms)
  }
}

/** Whether a call was sent by a process that died before its result arrived. */
async function hasLostCall(world: World, note: number): Promise<boolean> {
  const key = world.keys.get(note)
  if (key === undefined) return false
  return store.update(key, (approvals) => [
    approvals,
    approvals.some(
      ({ state, sender, expiresAt }) => state === 'sent' && sender?.instance !== world.instances.at(-1) && expiresAt > world.time,
    ),
  ])
}

test('AT-S07-1: no schedule of retries, drops and restarts sends a call twice with one approval', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const world = new World()
      await world.start()
      try {
        for (const each of steps) {
          await play(world, each)
          await settled()
          if (world.alive.isDead) await world.restart()
          for (const note of [0, 1]) expect(world.sent[note]).toBeLessThanOrEqual(world.permitted[note] ?? 0)
          for (const count of world.used.values()) expect(count).toBe(1)
        }
      } finally {
        world.alive.isDead = true
        world.approvals.close()
      }
    }),
    propertyRuns({ long: 10_000, sample: 200 }),
  )
  // The schedules reach the interesting states.
  expect(totals.sent).toBeGreaterThan(20)
  expect(totals.unknown).toBeGreaterThan(0)
  expect(totals.continued).toBeGreaterThan(0)
})
