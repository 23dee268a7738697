import { expect, test } from 'vitest'
import { Late, within } from './time-limit.ts'

const never = (): Promise<never> => new Promise(() => undefined)

test('what is there in time is given', async () => {
  expect(await within(1_000, undefined, () => 'now')).toBe('now')
  expect(await within(1_000, undefined, async () => 'soon')).toBe('soon')
})

test('work that never ends is told so and left behind', async () => {
  let told = false
  const work = (signal: AbortSignal): Promise<never> => {
    signal.addEventListener('abort', () => {
      told = true
    })
    return never()
  }
  await expect(within(5, undefined, work)).rejects.toThrow(Late)
  expect(told).toBe(true)
})

test('work that throws, at once or later, is as if it were called directly', async () => {
  const thrown = new Error('no')
  const work = (): never => {
    throw thrown
  }
  await expect(within(1_000, undefined, work)).rejects.toBe(thrown)
  await expect(within(1_000, undefined, () => Promise.reject(thrown))).rejects.toBe(thrown)
})

test('whoever gave up gets their own reason, before and while work is done', async () => {
  const reason = new Error('gone')
  await expect(within(1_000, AbortSignal.abort(reason), () => 'never asked')).rejects.toBe(reason)
  const controller = new AbortController()
  const waiting = within(1_000, controller.signal, never)
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
})
