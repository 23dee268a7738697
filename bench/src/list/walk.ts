import type { ToolCall } from './wire.ts'

/** Opens and closes groups in an order that hardly ever comes back to the same set, so that no list can come from a cache. */
export class Walk {
  readonly #groups: readonly string[]
  readonly #closed: string[] = []
  #seed = 1

  /** Starts with all groups open, and keeps nine of ten open. */
  constructor(groups: readonly string[]) {
    this.#groups = groups
  }

  /** What to call next. */
  next(): ToolCall {
    if (this.#closed.length > this.#groups.length / 10) {
      const [group = ''] = this.#closed.splice(this.#below(this.#closed.length), 1)
      return { name: `activate_${group}`, arguments: {} }
    }
    const open = this.open()
    const group = open[this.#below(open.length)] ?? ''
    this.#closed.push(group)
    return { name: 'deactivate', arguments: { group } }
  }

  /** The groups that are open now. */
  open(): readonly string[] {
    return this.#groups.filter((group) => !this.#closed.includes(group))
  }

  /** The same sequence on every run. */
  #below(limit: number): number {
    this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (this.#seed >>> 8) % limit
  }
}
