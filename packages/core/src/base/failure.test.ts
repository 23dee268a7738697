import { describe, expect, expectTypeOf, test } from 'vitest'
import { Failure, type FailureDetails, isFailure, reasons } from './failure.ts'

const unknown = new Failure('unknown_group', 'Unknown group "fils". Nearest: files.', { group: 'fils', nearest: ['files'] })

test('a failure carries its reason, its message and its details', () => {
  expect(unknown).toMatchObject({
    name: 'Failure',
    reason: 'unknown_group',
    message: 'Unknown group "fils". Nearest: files.',
    details: { group: 'fils', nearest: ['files'] },
  })
  expect(unknown).toBeInstanceOf(Error)
})

test('a failure keeps its cause', () => {
  const cause = new Error('disk full')
  expect(new Failure('store_failed', 'Cannot save.', { operation: 'save' }, { cause }).cause).toBe(cause)
})

describe('asking whether something is a failure', () => {
  test('is answered by class, and by reason when one is named', () => {
    expect(isFailure(unknown)).toBe(true)
    expect(isFailure(unknown, 'unknown_group')).toBe(true)
    expect(isFailure(unknown, 'unknown_tool')).toBe(false)
  })

  test.each([new Error('no'), { reason: 'unknown_group', details: {} }, 'unknown_group', null, undefined])(
    'is answered no for %o',
    (other) => {
      expect(isFailure(other)).toBe(false)
    },
  )

  test('gives the details of the reason their type', () => {
    const caught: unknown = unknown
    if (!isFailure(caught, 'unknown_group')) throw caught
    expectTypeOf(caught.details).toEqualTypeOf<FailureDetails['unknown_group']>()
    expect(caught.details.nearest).toEqual(['files'])
  })
})

test('every reason is a word in small letters and is for someone', () => {
  for (const [reason, kind] of Object.entries(reasons)) {
    expect(reason).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(['tool', 'protocol', 'operator']).toContain(kind)
  }
})

test('the compiler refuses a reason without its details', () => {
  // @ts-expect-error the details of unknown_group name the group and its nearest
  const wrong = new Failure('unknown_group', 'No such group.', { limit: 1 })
  // @ts-expect-error there is no such reason
  const misspelt = new Failure('unknown_grup', 'No such group.', {})
  expect([wrong, misspelt].every((failure) => failure instanceof Error)).toBe(true)
})
