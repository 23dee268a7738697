import { expect, test } from 'vitest'
import { nodeFinding } from './findings.ts'

test('an outdated Node fails, with a link to download it', () => {
  expect(nodeFinding('20.18.3')).toMatchObject({ state: 'failed', next: expect.stringContaining('20.19') })
  expect(nodeFinding('18.20.0').state).toBe('failed')
  expect(nodeFinding('20.19.0').state).toBe('ok')
  expect(nodeFinding('26.0.0').state).toBe('ok')
})
