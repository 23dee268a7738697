import { describe, expect, expectTypeOf, test } from 'vitest'
import { Failure, type FailureDetails, isFailure, locatedText, reasons } from './failure.ts'

const unknown = new Failure('unknown_group', 'Unknown group "fils". Nearest: files.', { group: 'fils', nearest: ['files'] })

test('a failure has a reason, a message and details', () => {
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

describe('isFailure', () => {
  test('checks the class, and the reason if one is passed', () => {
    expect(isFailure(unknown)).toBe(true)
    expect(isFailure(unknown, 'unknown_group')).toBe(true)
    expect(isFailure(unknown, 'unknown_tool')).toBe(false)
  })

  test.each([new Error('no'), { reason: 'unknown_group', details: {} }, 'unknown_group', null, undefined])(
    'is false for %o',
    (other) => {
      expect(isFailure(other)).toBe(false)
    },
  )

  test('narrows the type of the details', () => {
    const caught: unknown = unknown
    if (!isFailure(caught, 'unknown_group')) throw caught
    expectTypeOf(caught.details).toEqualTypeOf<FailureDetails['unknown_group']>()
    expect(caught.details.nearest).toEqual(['files'])
  })
})

test('every reason is lower case and has an audience', () => {
  for (const [reason, kind] of Object.entries(reasons)) {
    expect(reason).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(['tool', 'protocol', 'operator']).toContain(kind)
  }
})

test('the compiler rejects a reason without its details', () => {
  // @ts-expect-error the details of unknown_group name the group and its nearest
  const wrong = new Failure('unknown_group', 'No such group.', { limit: 1 })
  // @ts-expect-error unknown reason
  const misspelt = new Failure('unknown_grup', 'No such group.', {})
  expect([wrong, misspelt].every((failure) => failure instanceof Error)).toBe(true)
})

test('a message continues the path, or follows it as a sentence', () => {
  const at = { line: 2, column: 3 }
  expect(locatedText({ ...at, path: 'listen.port', message: 'must be a number.' })).toBe('2:3: listen.port must be a number.')
  expect(locatedText({ ...at, path: 'env.KEY', message: 'KEY is not set.' })).toBe('2:3: env.KEY: KEY is not set.')
  expect(locatedText({ ...at, path: '', message: 'is empty.' })).toBe('2:3 is empty.')
})
