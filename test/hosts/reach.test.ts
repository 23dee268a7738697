import { expect } from 'vitest'
import { tryWish, wishes } from '../../bench/src/hosts/lab.ts'
import { scenario } from './scenario.ts'

const inThreeTurns = { reached: true, informed: true, failed: 0 }

scenario('an unlisted tool, by default', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.read)
  expect(outcome).toMatchObject(inThreeTurns)
  expect(outcome.turns).toBeLessThanOrEqual(3)
})

scenario('an unlisted tool, by default over stdio', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.read, { transport: 'stdio' })
  expect(outcome).toMatchObject(inThreeTurns)
  expect(outcome.turns).toBeLessThanOrEqual(3)
})

scenario('a catalogue within the budget', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.read, { catalogue: 'small' })
  expect(outcome).toMatchObject(inThreeTurns)
  expect(outcome.turns).toBeLessThanOrEqual(2)
})
