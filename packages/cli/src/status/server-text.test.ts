import { expect, test } from 'vitest'
import { plain } from '../text/style.ts'
import { serverText } from './server-text.ts'
import type { Upstream } from './status-text.ts'

const upstream: Upstream = {
  name: 'big',
  state: 'ready',
  forMs: 1_000,
  tools: 2,
  offered: 2,
  calls: { running: 0, waiting: 0 },
  notes: [],
  findings: [],
  findingCount: 0,
  held: 0,
  blocked: 0,
}

const textOf = (more: Partial<Upstream>): string => serverText({ ...upstream, ...more }, [], { style: plain, width: 200 })

test('a server that is expensive to follow is shown with numbers and a next step', () => {
  expect(textOf({ slowdown: { costMs: 320, delayMs: 2_880 } })).toMatch(
    /slowed +refreshed at most every .+ because a refresh takes 320 ms\. Limit its tools with "allow"/u,
  )
  expect(textOf({})).not.toContain('slowed')
})

test('findings that are not part of the status are counted', () => {
  const finding = {
    tool: 'a',
    path: 'description',
    rule: 'secrecy',
    description: 'hides',
    excerpt: 'x',
    advice: 'Look.',
  } as const
  expect(textOf({ findings: [finding], findingCount: 31 })).toContain('… and 30 more findings')
  expect(textOf({ findings: [finding], findingCount: 1 })).not.toContain('more finding')
})
