import { expect, test } from 'vitest'
import type { Gateway } from '../gateway/gateway.ts'
import { ListUsage } from '../gateway/list-usage.ts'
import { Journal } from '../observability/journal.ts'
import { CallUsage } from './usage.ts'

test('a call that a client, a person or the configuration ended is no failure', () => {
  const journal = new Journal()
  const usage = new CallUsage(journal)
  for (const outcome of ['ok', 'denied', 'cancelled', 'approval_pending', 'rate_limited', 'error', 'timeout'])
    journal.write('call', { client: 'a', upstream: 'box', tool: 't', ms: 3, outcome, sentCharacters: 1, receivedCharacters: 2 })
  const { byServer } = usage.report({ source: { entries: () => [] }, lists: new ListUsage() } as unknown as Gateway, (id) => id)
  expect(byServer).toMatchObject([{ key: 'box', calls: 7, failures: 2 }])
})
