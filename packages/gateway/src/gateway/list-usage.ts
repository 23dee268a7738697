import type { SentList } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'

/** Tool lists that one client was sent since the gateway started. */
export interface ListUsageRow {
  readonly client: string
  /** Name of the host, if it is known. */
  readonly host?: string
  readonly lists: number
  readonly sentTokens: number
  /** What the same lists would have cost with every tool that the client may use. */
  readonly allTokens: number
}

type Sums = { -readonly [K in keyof ListUsageRow]: ListUsageRow[K] }

const maxClients = 1_000

/** Measures every list at the moment it is sent: the tools of a gateway change, so a later computation would differ. */
export class ListUsage {
  readonly #byClient = new Map<string, Sums>()

  readonly record = ({ principal, host, tokens, allTokens }: SentList<Client>): void => {
    const client = principal?.id ?? 'anonymous'
    const key = JSON.stringify([client, host])
    let sums = this.#byClient.get(key)
    if (sums === undefined) {
      if (this.#byClient.size >= maxClients) return
      sums = { client, ...(host !== undefined && { host }), lists: 0, sentTokens: 0, allTokens: 0 }
      this.#byClient.set(key, sums)
    }
    // Further pages belong to the same list.
    if (allTokens > 0 || tokens === 0) sums.lists++
    sums.sentTokens += tokens
    sums.allTokens += allTokens
  }

  rows(): readonly ListUsageRow[] {
    return [...this.#byClient.values()].map((sums) => ({ ...sums }))
  }
}
