/** Random numbers that a seed determines. */
export interface Random {
  /** A number from 0 up to but not including 1. */
  (): number
  /** An integer from 0 up to but not including `limit`. */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return Object.assign(next, {
    below,
    pick<T>(items: readonly T[]): T {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('There is nothing to pick.')
      return item
    },
  })
}
