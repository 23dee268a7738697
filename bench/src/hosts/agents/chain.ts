import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from '../endpoint/endpoint.ts'
import { searchHost } from './host-search.ts'
import { plainAgent, type Wish } from './plain.ts'

const latencyMs = 500

/**
 * An agent with several wishes, one after the other. A wish that it had to give up is left out. In the end it asks the host's own
 * search, where there is one, for `words`.
 */
export function chainAgent(wishes: readonly Wish[], words: string): Agent {
  return async (request, turn) => {
    // A real model takes its time, in which a host may read a new list.
    if (turn > 0) await pause(latencyMs)
    for (const wish of wishes) {
      const action = await plainAgent(wish, 1_000)(request, turn)
      if (action.kind === 'call') return action
    }
    return searchHost(request, words) ?? { kind: 'say', text: 'Done.' }
  }
}
