import { expect } from 'vitest'
import { tryWish, wishes } from '../../bench/src/hosts/lab.ts'
import { scenario } from './scenario.ts'

scenario('exposure search', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.read, { exposure: 'search' })
  expect(outcome).toMatchObject({ reached: true, informed: true, failed: 0 })
})

scenario('exposure everything', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.read, { exposure: 'everything' })
  expect(outcome).toMatchObject({ reached: true, informed: true, failed: 0 })
})

scenario('exposure groups', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.read, { exposure: 'groups' })
  expect(outcome).toMatchObject({ reached: true, informed: true, failed: 0 })
})

scenario('exposure lazy', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.read, { exposure: 'lazy' })
  expect(outcome).toMatchObject({ reached: true, informed: true, failed: 0 })
})
