import type { ToolCall } from './wire.ts'

/** Activates and deactivates groups in an order that rarely repeats a set, so that lists are never cached. */
export class Walk {
  readonly #groups: readonly string[]
  readonly #closed: string[] = []
  #seed = 1

  /** Starts with all groups active and keeps nine of ten active. */
  constructor(groups: readonly string[]) {
    this.#groups = groups
  }

  /** Returns the next call. */
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

  /** The active groups. */
  open(): readonly string[] {
    return this.#groups.filter((group) => !this.#closed.includes(group))
  }

  /** Seeded random numbers. */
  #below(limit: number): number {
    this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (this.#seed >>> 8) % limit
  }
}
