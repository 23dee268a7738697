import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { silent } from '../../src/base/log.ts'
import { parseConfig } from '../../src/config/read.ts'
import { Gateway } from '../../src/gateway/gateway.ts'
import type { CatalogStore } from '../../src/stores/catalog.ts'
import { catalogKey } from '../../src/stores/key.ts'
import { memoryCatalog } from '../../src/stores/memory.ts'
import { SimulatedClock } from '../simulated-clock.ts'
import { delays, SimulatedServer, toolsOf } from '../simulated-server.ts'

const names = ['a', 'b', 'c'] as const

type Wanted = { readonly [N in (typeof names)[number]]: 'absent' | 'disabled' | 'here' | 'moved' | 'renamed' }

const wanted: fc.Arbitrary<Wanted> = fc.record({
  a: fc.constantFrom('here', 'here', 'absent', 'disabled', 'moved', 'renamed'),
  b: fc.constantFrom('here', 'here', 'absent', 'moved'),
  c: fc.constantFrom('here', 'disabled'),
})

const server = fc.constantFrom(...names)
const event = fc.record({
  pause: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 8_000 })),
  what: fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('change' as const, 'burst' as const), server }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('death' as const, 'return' as const), server }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('edit' as const), wanted }) },
  ),
})

/** A configuration as if read from a file. */
function configured(servers: Wanted) {
  // Periodic polling would hide a missed change.
  const settings = { sweepMs: 0, pingMs: 0 }
  const mcpServers = Object.fromEntries(
    names
      .filter((name) => servers[name] !== 'absent')
      .map((name) => {
        const url = `http://127.0.0.1/${name}${servers[name] === 'moved' ? '/elsewhere' : ''}`
        const tools = servers[name] === 'renamed' ? { tools: { tool_0: { name: 'first' } } } : {}
        return [name, { url, ...settings, ...tools, disabled: servers[name] === 'disabled' }]
      }),
  )
  return parseConfig(JSON.stringify({ mcpServers }), { file: 'unfold.json', environment: {} })
}

/** Advances the clock until a promise settles. */
async function played<T>(clock: SimulatedClock, doing: Promise<T>): Promise<T> {
  const state = { isDone: false }
  const done = doing.finally(() => {
    state.isDone = true
  })
  for (let step = 0; !state.isDone; step++) {
    if (step > 1_000) throw new Error('It is never done.')
    await clock.run(clock.now() + 10)
  }
  return done
}

/** A store with delays. */
function slow(store: CatalogStore, pause: () => Promise<void>): CatalogStore {
  return {
    ...store,
    async load(upstream) {
      await pause()
      return store.load(upstream)
    },
    async replaceTools(upstream, tools, details) {
      await store.replaceTools(upstream, tools, details)
      await pause()
    },
  }
}

test('for any behaviour of upstreams and any edits of the configuration, the lists match in the end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(delays, delays, delays),
      fc.array(event, { maxLength: 16 }),
      fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 12 }),
      async (times, events, pauses) => {
        const clock = new SimulatedClock()
        const servers = {
          a: new SimulatedServer(clock, times[0]),
          b: new SimulatedServer(clock, times[1]),
          c: new SimulatedServer(clock, times[2]),
        }
        let turn = 0
        const store = slow(memoryCatalog(), () => new Promise((resolve) => void clock.after(pauses[turn++] ?? 0, resolve)))
        let last: Wanted = { a: 'here', b: 'here', c: 'here' }
        const opening = Gateway.open({
          read: configured(last),
          folder: '/',
          store,
          log: silent,
          clock,
          random: () => 0.5,
          open: (target) => servers['url' in target ? (new URL(target.url).pathname[1] as 'a' | 'b' | 'c') : 'a'].open(),
        })
        const gateway = await played(clock, opening)
        const applying: Promise<unknown>[] = []
        let at = 0
        for (const { pause, what } of events) {
          at += pause
          clock.after(at, () => {
            if (what.kind === 'edit') {
              last = what.wanted
              applying.push(gateway.apply(configured(last)))
            } else if (what.kind === 'death') servers[what.server].die()
            else if (what.kind === 'return') servers[what.server].isUp = true
            else for (let time = 0; time < (what.kind === 'burst' ? 20 : 1); time++) servers[what.server].change()
          })
        }
        clock.after(at + 1, () => {
          for (const each of Object.values(servers)) each.isUp = true
        })
        await clock.run(clock.now() + at + 1)
        await played(clock, Promise.all(applying))
        await clock.run(clock.now() + 600_000)
        const expected = names.flatMap((name) => {
          if (last[name] === 'absent' || last[name] === 'disabled') return []
          return toolsOf(servers[name].version).map(({ name: own, description }) => {
            const shown = last[name] === 'renamed' && own === 'tool_0' ? 'first' : `${name}__${own}`
            return [shown, description]
          })
        })
        const listed = gateway.source.entries().map(({ tool }) => [tool.name, tool.description])
        expect(listed).toEqual(expected)
        for (const name of names) {
          const { lists, opened, notices, failures, mostAtOnce } = servers[name]
          expect(mostAtOnce).toBeLessThanOrEqual(1)
          expect(lists).toBeLessThanOrEqual(opened + notices + failures)
          const found = gateway.config.mcpServers[name]
          if (found === undefined || found.disabled) continue
          expect(await store.tools(catalogKey(name, found))).toEqual(toolsOf(servers[name].version))
        }
        await played(clock, gateway.close())
      },
    ),
    propertyRuns({ long: 1_000, sample: 100 }),
  )
}, 300_000)
