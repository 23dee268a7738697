import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { propertyRuns } from '../../../../../test/runs.ts'
import { confirmed, type Reply, scriptHandler, statelessCaller } from '../../../test/script-client.ts'
import type { ScriptEngine } from '../../scripts/engine.ts'
import { quickJsEngine } from '../../scripts/quickjs/engine.ts'
import { memoryScriptStore, type ScriptStore } from '../../stores/script-store.ts'
import { defineToolbox } from '../../toolbox.ts'

const engine = quickJsEngine({ workers: 4 })
const shared: ScriptEngine = {
  version: engine.version,
  open: (options) => engine.open(options),
  [Symbol.asyncDispose]: async () => undefined,
}
afterAll(() => engine[Symbol.asyncDispose]())

const secret = randomBytes(32)
const decisions = ['Run these calls', 'Run these, and further calls of these tools in this script', 'Deny'] as const

type Step = { readonly kind: 'one' | 'all' | 'race'; readonly calls: readonly ('read' | 'write' | 'fail')[] }

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('one', 'all', 'race'),
  calls: fc.array(fc.constantFrom('read', 'write', 'fail'), { minLength: 1, maxLength: 3 }),
})

const event = fc.record({
  decision: fc.constantFrom(...decisions),
  further: fc.integer({ min: 1, max: 3 }),
  /** The process dies when this many more effects were made; 0: it lives. */
  diesAfter: fc.constantFrom(0, 0, 0, 1, 2, 3),
  /** Another process continues. */
  moves: fc.boolean(),
  /** The client also repeats its previous answer. */
  repeats: fc.boolean(),
})

/** Every call of the script has another label. */
function scriptOf(steps: readonly Step[]): string {
  let label = 0
  const lines = steps.map(({ kind, calls }) => {
    const made = calls.map((tool) => `tools.${tool}({ label: '${label++}' }).catch((error) => error.reason)`)
    if (kind === 'one') return made.map((call) => `done.push(await ${call})`).join('\n')
    return kind === 'all'
      ? `done.push(await Promise.all([${made.join(', ')}]))`
      : `done.push(await Promise.race([${made.join(', ')}]))`
  })
  return ['const done = []', ...lines, 'return { done }'].join('\n')
}

const never = (): Promise<never> => new Promise(() => undefined)

class World {
  readonly effects = new Map<string, number>()
  readonly #base = memoryScriptStore()
  readonly #dead = new Set<string>()
  readonly #open: (() => Promise<void>)[] = []
  #count = 0

  start(confirm: 'writes' | 'never' = 'writes') {
    const name = `${++this.#count}`
    const life = { fuse: 0, isDead: false, died: (): void => undefined }
    const alive = <T>(work: () => Promise<T>): Promise<T> => (life.isDead ? never() : work())
    const store: ScriptStore = {
      process: name,
      isRunning: (other) => !this.#dead.has(other),
      add: (...args) => alive(() => this.#base.add(...args)),
      get: (key) => alive(() => this.#base.get(key)),
      set: (...args) => alive(() => this.#base.set(...args)),
      delete: (keys) => alive(() => this.#base.delete(keys)),
    }
    const act = async (label: string): Promise<string> => {
      if (life.isDead) return never()
      this.effects.set(label, (this.effects.get(label) ?? 0) + 1)
      if (life.fuse > 0 && --life.fuse === 0) {
        life.isDead = true
        this.#dead.add(name)
        life.died()
        return never()
      }
      return `did ${label}`
    }
    const inputSchema = z.object({ label: z.string() })
    const toolbox = defineToolbox({
      name: 'world',
      version: '1.0.0',
      exposure: 'code',
      code: { secret, store, confirm, engine: async () => shared },
      report: () => undefined,
    })
      .tool('read', { inputSchema, annotations: { readOnlyHint: true } }, ({ label }) => act(label))
      .tool('write', { inputSchema }, ({ label }) => act(label))
      .tool('fail', { inputSchema }, async ({ label }) => {
        await act(label)
        throw new Error('failed')
      })
    const handler = scriptHandler(toolbox)
    const call = statelessCaller(handler)
    const end = async (): Promise<void> => {
      await handler.close()
      await toolbox.close()
    }
    this.#open.push(end)
    return {
      life,
      /** `undefined` if the process died before it replied. */
      async run(code: string, repeat: object = {}): Promise<Reply | undefined> {
        const died = new Promise<undefined>((resolve) => {
          life.died = () => resolve(undefined)
        })
        const reply = await Promise.race([call('run_code', { code }, repeat).catch(() => undefined), died])
        if (life.isDead) void handler.close()
        return life.isDead ? undefined : reply
      },
    }
  }

  async close(): Promise<void> {
    for (const end of this.#open) await end()
  }
}

const totals = { paused: 0, died: 0, unknown: 0, rejected: 0 }

test('AT-K46-2: no schedule of answers, pauses, kills and repeats makes a call more often than an uninterrupted run', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 4 }),
      fc.array(event, { minLength: 6, maxLength: 6 }),
      async (steps, events) => {
        const code = scriptOf(steps)
        const plain = new World()
        const world = new World()
        try {
          await plain.start('never').run(code)
          let process = world.start()
          let reply = await process.run(code)
          for (const { decision, further, diesAfter, moves, repeats } of events) {
            if (reply?.resultType !== 'input_required') break
            totals.paused++
            const repeat = { requestState: reply.requestState, inputResponses: confirmed(decision, further) }
            if (moves) process = world.start()
            process.life.fuse = diesAfter
            reply = await process.run(code, repeat)
            if (process.life.isDead) {
              totals.died++
              process = world.start()
              reply = await process.run(code, repeat)
              if (JSON.stringify(reply).includes('effect_unknown')) totals.unknown++
            }
            process.life.fuse = 0
            if (repeats && (await process.run(code, repeat))?.isError === true) totals.rejected++
          }
          for (const [label, count] of world.effects)
            expect(count, `call ${label} of\n${code}`).toBeLessThanOrEqual(plain.effects.get(label) ?? 0)
        } finally {
          await plain.close()
          await world.close()
        }
      },
    ),
    propertyRuns({ long: 1_000, sample: 40 }),
  )
  // The schedules reach the interesting states.
  expect(totals.paused).toBeGreaterThan(10)
  expect(totals.died).toBeGreaterThan(0)
  expect(totals.unknown).toBeGreaterThan(0)
  expect(totals.rejected).toBeGreaterThan(0)
}, 3_600_000)
