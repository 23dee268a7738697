import { expect } from 'vitest'
import { longAgent } from '../../bench/src/hosts/agents/long.ts'
import { tryWish, wishes } from '../../bench/src/hosts/lab.ts'
import { proof } from '../../bench/src/hosts/servers/replies.ts'
import { lastTexts } from './received.ts'
import { scenario } from './scenario.ts'

scenario('an error result', async (driver) => {
  const { outcome, run } = await tryWish(driver, wishes.fail, { exposure: 'everything' })
  expect(outcome).toMatchObject({ reached: true })
  expect(lastTexts(run).join('\n')).toContain(proof.error)
})

scenario('an image', async (driver) => {
  const { outcome, run } = await tryWish(driver, wishes.image, { exposure: 'everything' })
  expect(outcome).toMatchObject({ reached: true })
  expect(lastTexts(run).join('\n')).toContain(proof.image)
  const last = run.turns.at(-1)?.request.messages ?? []
  expect(last.some((each) => (each.kind === 'result' ? each.result.images > 0 : each.kind === 'user' && each.images > 0))).toBe(
    true,
  )
})

scenario('a long result', async (driver) => {
  const trial = { exposure: 'everything', config: { results: { maxCharacters: 4_000 } } } as const
  const { outcome, run } = await tryWish(driver, wishes.long, trial, () => longAgent(wishes.long, 'auditor'))
  expect(outcome).toMatchObject({ reached: true })
  const texts = lastTexts(run)
  expect(texts.join('\n')).toContain(proof.lateLine)
  // The first reply was short, and the rest was read on request.
  expect(Math.max(...texts.map((text) => text.length))).toBeLessThan(8_000)
})
