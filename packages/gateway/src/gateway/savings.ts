import type { Preview } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { Toolboxes } from './toolboxes.ts'

/** Size of the first list compared with all tools. */
export interface Savings extends Pick<Preview, 'allTokens' | 'listedTokens' | 'exposure' | 'reason'> {
  /** Number of tools the client may use. */
  readonly tools: number
  readonly listed: number
}

/** Savings by client, until tools or configuration change. */
export class SavingsCache {
  readonly #toolboxes: Pick<Toolboxes, 'of'>
  readonly #byClient = new Map<Client | undefined, Promise<Savings>>()

  constructor(toolboxes: Pick<Toolboxes, 'of'>) {
    this.#toolboxes = toolboxes
  }

  of(client: Client | undefined): Promise<Savings> {
    const cached = this.#byClient.get(client)
    if (cached !== undefined) return cached
    const savings = this.#compute(client)
    this.#byClient.set(client, savings)
    savings.catch(() => this.#byClient.delete(client))
    return savings
  }

  clear(): void {
    this.#byClient.clear()
  }

  async #compute(principal: Client | undefined): Promise<Savings> {
    const preview = await this.#toolboxes.of(principal).preview({ principal })
    const { allTokens, listedTokens, exposure, reason, all, listed } = preview
    return { allTokens, listedTokens, exposure, reason, tools: all.length, listed: listed.length }
  }
}
