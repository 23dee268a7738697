import { ClientError } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { RetryPolicy } from './retry-policy.ts'

const attempt = { text: 'failed to connect', isInstall: false, hasConnected: true }
const middle = (): number => 0.5

test('an attempt is not made before the end of a pause that the server requested', () => {
  const policy = new RetryPolicy()
  const pausing = new ClientError('unreachable', '', { target: 'x', status: 503, retryAfterMs: 2_000 })
  const delays = Array.from({ length: 6 }, () => policy.recordFailure(pausing, attempt, middle).retryInMs)
  expect(delays).toEqual([2_000, 2_000, 2_000, 2_000, 2_000, 4_000])
})

test('without a requested pause, delays double', () => {
  const policy = new RetryPolicy()
  const away = new ClientError('unreachable', '', { target: 'x' })
  const delays = Array.from({ length: 3 }, () => policy.recordFailure(away, attempt, middle).retryInMs)
  expect(delays).toEqual([125, 250, 500])
})
