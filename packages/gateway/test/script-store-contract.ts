import { randomUUID } from 'node:crypto'
import type { ScriptStore } from '@unfold-mcp/server'
import { describe, expect, test } from 'vitest'

/** The contract of every driver. `open` returns two stores that share their data, as two processes do. */
export function scriptStoreContract(driver: string, open: () => Promise<readonly [ScriptStore, ScriptStore]>): void {
  describe(`${driver} as a store of paused scripts`, () => {
    const later = Date.now() + 3_600_000
    const fresh = (): string => randomUUID()

    test('of several additions with one key, one succeeds, and the others get its value', async () => {
      const stores = await open()
      const key = fresh()
      const added = await Promise.all(
        ['a', 'b', 'c', 'd'].map(async (value, index) => ({
          value,
          found: await stores[index % 2 === 0 ? 0 : 1].add(key, value, later),
        })),
      )
      const [winner, ...others] = added.filter(({ found }) => found === undefined)
      expect(others).toEqual([])
      for (const { found, value } of added) expect(found).toBe(value === winner?.value ? undefined : winner?.value)
      expect(await stores[1].get(key)).toBe(winner?.value)
    })

    test('a value is replaced and deleted for all', async () => {
      const [first, second] = await open()
      const [key, other] = [fresh(), fresh()]
      await first.add(key, 'before', later)
      await second.set(key, 'after', later)
      await second.set(other, 'kept', later)
      expect(await first.get(key)).toBe('after')
      await first.delete([key, fresh()])
      expect([await second.get(key), await first.get(other)]).toEqual([undefined, 'kept'])
      expect(await second.add(key, 'again', later)).toBeUndefined()
    })

    test('an expired value does not exist', async () => {
      const [first, second] = await open()
      const key = fresh()
      await first.add(key, 'short', Date.now() + 20)
      await expect.poll(() => second.get(key)).toBeUndefined()
      expect(await second.add(key, 'next', later)).toBeUndefined()
      expect(await first.get(key)).toBe('next')
    })

    test('a process counts as running for itself', async () => {
      const [store] = await open()
      expect(await store.isRunning(store.process)).toBe(true)
    })
  })
}
