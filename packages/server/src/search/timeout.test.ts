import { expect, test } from 'vitest'
import { TimeoutError, withTimeout } from './timeout.ts'

const never = (): Promise<never> => new Promise(() => undefined)

test('resolves with the result', async () => {
  expect(await withTimeout(1_000, undefined, () => 'now')).toBe('now')
  expect(await withTimeout(1_000, undefined, async () => 'soon')).toBe('soon')
})

test('aborts work that takes too long', async () => {
  let isAborted = false
  const work = (signal: AbortSignal): Promise<never> => {
    signal.addEventListener('abort', () => {
      isAborted = true
    })
    return never()
  }
  await expect(withTimeout(5, undefined, work)).rejects.toThrow(TimeoutError)
  expect(isAborted).toBe(true)
})

test('rejects with the error of the work', async () => {
  const thrown = new Error('no')
  const work = (): never => {
    throw thrown
  }
  await expect(withTimeout(1_000, undefined, work)).rejects.toBe(thrown)
  await expect(withTimeout(1_000, undefined, () => Promise.reject(thrown))).rejects.toBe(thrown)
})

test('rejects with the reason of a cancellation, before and during the work', async () => {
  const reason = new Error('gone')
  await expect(withTimeout(1_000, AbortSignal.abort(reason), () => 'not called')).rejects.toBe(reason)
  const controller = new AbortController()
  const result = withTimeout(1_000, controller.signal, never)
  controller.abort(reason)
  await expect(result).rejects.toBe(reason)
})
