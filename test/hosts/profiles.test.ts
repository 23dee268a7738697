import { hostById, type Relists } from '@unfold-mcp/core'
import { expect } from 'vitest'
import { factsOf } from '../../bench/src/hosts/facts.ts'
import { scenario } from './scenario.ts'

// In some hosts re-listing races with the model's next turn. Their profile assumes the slower outcome, which works in both cases.
const agrees = (measured: Relists, profile: Relists): boolean => (measured === 'never') === (profile === 'never')

scenario('the host profile matches the observed behaviour', async (driver) => {
  const profile = hostById(driver.id.replace(/-(?:claude|[\d.]+)$/u, ''))
  expect(profile).toBeDefined()
  if (profile === undefined) return
  const facts = await factsOf(driver)
  expect(facts.passes).toBe(profile.passes)
  expect([facts.relists, agrees(facts.relists, profile.relists)]).toEqual([facts.relists, true])
  if (profile.defers !== 'by-setting') expect(facts.defers).toBe(profile.defers === 'always')
  const name = facts.clientInfo?.name ?? ''
  if (facts.revision !== '2026-07-28')
    expect(
      profile.clientNames.some((known) => (known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known)),
    ).toBe(true)
  if (facts.readsAlwaysLoad !== undefined) expect(profile.hints.includes('anthropic/alwaysLoad')).toBe(facts.readsAlwaysLoad)
})
