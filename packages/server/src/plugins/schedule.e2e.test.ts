import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { toolModule, workshop } from '../../test/plugins.ts'

const files = ['a.mjs', 'b.mjs', 'c.mjs'] as const
const step = fc.record({
  file: fc.constantFrom(...files),
  /** Nothing removes the file. */
  version: fc.option(fc.integer({ min: 1, max: 3 })),
  pauseMs: fc.constantFrom(0, 5, 35, 120),
})

test('however files are saved and removed, in the end the client was told of what the folder holds', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
      await using shop = await workshop({ 'a.mjs': toolModule('a_1') })
      const held = new Map<string, string>([['a.mjs', 'a_1']])
      let known: readonly string[] = await shop.client.toolNames()
      for (const { file, version, pauseMs } of steps) {
        const tool = `${file[0]}_${version}`
        if (version === null) {
          await shop.remove(file)
          held.delete(file)
        } else {
          await shop.save(file, toolModule(tool))
          held.set(file, tool)
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
      const wanted = files.flatMap((file) => held.get(file) ?? [])
      // As clients do: it lists again only when it was told to.
      let heard = -1
      await shop.until('the client knows what the folder holds', async () => {
        if (heard !== shop.client.notices) {
          heard = shop.client.notices
          known = await shop.client.toolNames()
        }
        return known.join() === wanted.join()
      })
      expect(shop.reports).toEqual([])
    }),
    propertyRuns({ long: 5, sample: 2 }),
  )
})
