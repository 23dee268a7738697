import { AssertionError } from 'node:assert'
import { describe, test } from 'vitest'
import type { Driver } from '../../bench/src/hosts/drivers/driver.ts'
import { drivers } from '../../bench/src/hosts/drivers/index.ts'
import { commandOf, fullTitle } from '../../bench/src/hosts/installed.ts'

/**
 * Runs a scenario with every installed host; other hosts are reported as skipped. A scenario that the driver lists under
 * `cannot` must fail an assertion; if it passes, the entry is outdated and the test fails.
 */
export function scenario(id: string, body: (driver: Driver) => Promise<void>): void {
  describe(`Hosts: ${id}`, () => {
    for (const driver of drivers) {
      const reason = driver.cannot?.[id]
      const remark = reason === undefined ? '' : ` cannot: ${reason}`
      test.skipIf(commandOf(driver) === undefined)(`${fullTitle(driver)}${remark}`, () =>
        reason === undefined ? body(driver) : failing(body(driver), `${id}, ${fullTitle(driver)}${remark}`),
      )
    }
  })
}

async function failing(running: Promise<void>, title: string): Promise<void> {
  try {
    await running
  } catch (error) {
    // Any other error is a defect of the lab, or a host that did not run.
    if (error instanceof AssertionError || (error instanceof Error && error.name === 'AssertionError')) return
    throw error
  }
  throw new Error(`Scenario passed: remove the outdated entry "${title}"`)
}
