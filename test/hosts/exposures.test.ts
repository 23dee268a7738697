import { expect } from 'vitest'
import { exposures, tryWish, wishes } from '../../bench/src/hosts/lab.ts'
import { scenario } from './scenario.ts'

for (const exposure of exposures.filter((each) => each !== 'auto')) {
  scenario(`exposure ${exposure}`, async (driver) => {
    const { outcome } = await tryWish(driver, wishes.read, { exposure })
    expect(outcome).toMatchObject({ reached: true, informed: true, failed: 0 })
  })
}
