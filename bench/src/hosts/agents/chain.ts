import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from '../endpoint/endpoint.ts'
import { searchHost } from './host-search.ts'
import { plainAgent, type Wish } from './plain.ts'

const latencyMs = 500

/**
 * An agent with several goals, one after the other. It skips goals that it could not reach. At the end it queries the host's own
 * search, if any, for `words`.
 */
export function chainAgent(wishes: readonly Wish[], words: string): Agent {
  return async (request, turn) => {
    // A real model takes time to reply, in which a host may re-list.
    if (turn > 0) await pause(latencyMs)
    for (const wish of wishes) {
      const action = await plainAgent(wish, 1_000)(request, turn)
      if (action.kind === 'call') return action
    }
    return searchHost(request, words) ?? { kind: 'say', text: 'Done.' }
  }
}
