import { hostById } from '@unfold-mcp/core'
import { expect } from 'vitest'
import { factsOf } from '../../bench/src/hosts/facts.ts'
import { scenario } from './scenario.ts'

// The probe answers a call that changes the list at once. Unfold waits for the client to list again, which makes `late` of some
// hosts `immediately`.
const measuredAs = { immediately: ['immediately'], late: ['late', 'immediately'], never: ['never'] } as const

scenario('the profile of the host says what was observed', async (driver) => {
  const profile = hostById(driver.id.replace(/-(?:claude|[\d.]+)$/u, ''))
  expect(profile).toBeDefined()
  if (profile === undefined) return
  const facts = await factsOf(driver)
  expect(facts.passes).toBe(profile.passes)
  expect(measuredAs[facts.relists]).toContain(profile.relists)
  if (profile.defers !== 'by-setting') expect(facts.defers).toBe(profile.defers === 'always')
  const name = facts.clientInfo?.name ?? ''
  if (facts.revision !== '2026-07-28')
    expect(
      profile.clientNames.some((known) => (known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known)),
    ).toBe(true)
  if (facts.readsAlwaysLoad !== undefined) expect(profile.hints.includes('anthropic/alwaysLoad')).toBe(facts.readsAlwaysLoad)
})
