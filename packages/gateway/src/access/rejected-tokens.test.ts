import { expect, test } from 'vitest'
import { RejectedTokens } from './rejected-tokens.ts'

function recorder() {
  const lines: string[] = []
  const statuses: number[] = []
  const warn = (_data: object, message: string): void => void lines.push(message)
  const clock = { now: 0 }
  const rejected = new RejectedTokens({
    log: { debug: warn, info: warn, warn, error: warn },
    onRefused: (status) => statuses.push(status),
    now: () => clock.now,
  })
  return { rejected, lines, statuses, clock }
}

test('an address is throttled after twenty rejected tokens within a minute, and only that address', () => {
  const { rejected, lines, statuses, clock } = recorder()
  const address = '192.0.2.1'
  for (let each = 0; each < 20; each++) expect(rejected.record({ address }, true)).toBeUndefined()
  clock.now = 18_500
  expect(rejected.record({ address }, true)).toBe(42)
  // Without any token, too.
  expect(rejected.record({ address }, false)).toBe(42)
  expect(rejected.record({ address: '192.0.2.2' }, true)).toBeUndefined()
  expect(rejected.record({ address: '127.0.0.1' }, true)).toBeUndefined()
  clock.now = 60_000
  expect(rejected.record({ address }, true)).toBeUndefined()
  expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  // The log has two lines for each address and minute, however many tokens are tried.
  expect(lines.filter((line) => line.includes('192.0.2.1'))).toEqual([
    'token rejected from 192.0.2.1',
    '20 tokens rejected from 192.0.2.1: throttling its requests without a valid token',
    'token rejected from 192.0.2.1',
  ])
})

test('requests without a token are not counted as rejected tokens', () => {
  const { rejected, lines, statuses } = recorder()
  for (let each = 0; each < 100; each++) expect(rejected.record({ address: '192.0.2.1' }, false)).toBeUndefined()
  expect([lines, statuses]).toEqual([[], []])
})

test('IPv6 addresses of one network count together, and the oldest addresses are forgotten', () => {
  const { rejected } = recorder()
  for (let each = 0; each < 20; each++) rejected.record({ address: `2001:db8::${each}` }, true)
  expect(rejected.record({ address: '2001:db8::ffff' }, true)).toBe(60)
  for (let each = 0; each < 10_000; each++) rejected.record({ address: `10.${each % 40}.${Math.floor(each / 40)}.1` }, true)
  expect(rejected.record({ address: '2001:db8::ffff' }, true)).toBeUndefined()
})
