import { expect, test } from 'vitest'
import { UsageMemory } from './usage.ts'

const day = 24 * 60 * 60 * 1_000

test('tools called after a search are boosted for similar searches', () => {
  const memory = new UsageMemory()
  memory.record('open a ticket', 'create_issue', 0)
  const boost = memory.boost('please open the tickets', 0)
  expect(boost('create_issue')).toBeGreaterThan(1)
  expect(boost('other')).toBe(1)
})

test('other searches are not affected', () => {
  const memory = new UsageMemory()
  memory.record('open a ticket', 'create_issue', 0)
  expect(memory.boost('weather in Rome', 0)('create_issue')).toBe(1)
})

test('usage decays', () => {
  const memory = new UsageMemory()
  memory.record('open a ticket', 'create_issue', 0)
  const at = (nowMs: number): number => memory.boost('open a ticket', nowMs)('create_issue')
  expect(at(14 * day)).toBeLessThan(at(0))
  expect(at(365 * day)).toBeCloseTo(1, 3)
  expect(at(-day)).toBe(at(0))
})

test('frequent use counts more than rare use, but never more than half', () => {
  const memory = new UsageMemory()
  memory.record('open a ticket', 'once', 0)
  for (let time = 0; time < 100; time++) memory.record('open a ticket', 'often', 0)
  const boost = memory.boost('open a ticket', 0)
  expect(boost('often')).toBeGreaterThan(boost('once'))
  expect(boost('often')).toBeLessThanOrEqual(1.5)
})

test('a history can be saved and restored', () => {
  const memory = new UsageMemory()
  memory.record('open a ticket', 'create_issue', 0)
  const restored = new UsageMemory(JSON.parse(JSON.stringify(memory)))
  expect(restored.boost('open a ticket', day)('create_issue')).toBe(memory.boost('open a ticket', day)('create_issue'))
})

test('histories are independent', () => {
  new UsageMemory().record('open a ticket', 'create_issue', 0)
  expect(new UsageMemory().boost('open a ticket', 0)('create_issue')).toBe(1)
})

test('its size is limited: the least used entries are dropped first', () => {
  const memory = new UsageMemory()
  for (let time = 0; time < 3; time++) memory.record('open a ticket', 'kept', 0)
  for (let number = 0; number < 1_000; number++) memory.record(`query word${number}x`, 'tool', number)
  expect(memory.toJSON()).toHaveLength(500)
  expect(memory.boost('open a ticket', 1_000)('kept')).toBeGreaterThan(1)
})

test('an empty search is not recorded', () => {
  const memory = new UsageMemory()
  memory.record('???', 'tool', 0)
  expect(memory.toJSON()).toEqual([])
})
