import type { KeptEvent } from '@unfold-mcp/server'
import { BoundedValues, type ValueLimits } from '../bounded-values.ts'
import type { Redis } from '../redis.ts'

const mebibyte = 1_048_576
// A client that has lost its connection tries again within seconds.
const keepMs = 300_000

const limits: ValueLimits = {
  // The longest event with four bytes per character.
  bytesPerValue: 4 * mebibyte,
  bytesPerPrincipal: 16 * mebibyte,
  bytes: 128 * mebibyte,
}

/** Messages of reply streams, for clients that resume them. */
export class ReplyEvents {
  readonly #values: BoundedValues

  constructor(redis: Redis) {
    this.#values = new BoundedValues(redis, 'replies', limits)
  }

  async keep(session: string, { stream, index, json, owner }: KeptEvent): Promise<void> {
    await this.#values.put(keyOf(session, stream, index), json, { principal: owner, keepMs })
  }

  /** Returns the events after `index`, up to the first one that is missing. */
  async after(session: string, stream: string, index: number): Promise<readonly string[]> {
    const found: string[] = []
    for (let next = index + 1; ; next++) {
      const event = await this.#values.get(keyOf(session, stream, next))
      if (event === undefined) return found
      found.push(event.value)
    }
  }
}

// With the session: a client can only read what belongs to its own.
const keyOf = (session: string, stream: string, index: number): string => JSON.stringify([session, stream, index])
