import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { pluginFixture, toolModule } from '../../test/plugins.ts'

const files = ['a.mjs', 'b.mjs', 'c.mjs'] as const
const step = fc.record({
  file: fc.constantFrom(...files),
  /** `null` removes the file. */
  version: fc.option(fc.integer({ min: 1, max: 3 })),
  pauseMs: fc.constantFrom(0, 5, 35, 120),
})

test('whatever the order of saves and removals, the client ends up with the tools of the folder', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
      await using fixture = await pluginFixture({ 'a.mjs': toolModule('a_1') })
      const expected = new Map<string, string>([['a.mjs', 'a_1']])
      let known: readonly string[] = await fixture.client.toolNames()
      for (const { file, version, pauseMs } of steps) {
        const tool = `${file[0]}_${version}`
        if (version === null) {
          await fixture.remove(file)
          expected.delete(file)
        } else {
          await fixture.save(file, toolModule(tool))
          expected.set(file, tool)
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
      const expectedNames = files.flatMap((file) => expected.get(file) ?? [])
      // Like real clients, list again only after a notification.
      let notified = -1
      await fixture.until('the client lists the tools of the folder', async () => {
        if (notified !== fixture.client.listChanges) {
          notified = fixture.client.listChanges
          known = await fixture.client.toolNames()
        }
        return known.join() === expectedNames.join()
      })
      expect(fixture.reports).toEqual([])
    }),
    propertyRuns({ long: 5, sample: 2 }),
  )
})
