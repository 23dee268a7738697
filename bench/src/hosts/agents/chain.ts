import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from '../endpoint/endpoint.ts'
import { searchHost } from './host-search.ts'
import { plainAgent, type Wish } from './plain.ts'

const latencyMs = 500

/** An agent with several goals, one after the other. It skips goals that it could not reach. */
export function chainAgent(wishes: readonly Wish[]): Agent {
  return async (request, turn) => {
    for (const wish of wishes) {
      const action = await plainAgent(wish, 1_000)(request, turn)
      if (action.kind === 'call') return action
    }
    return { kind: 'say', text: 'Done.' }
  }
}

/** An agent that, after its last goal, queries the host's own search, if any, for `words`. */
export function searchingAgent(wishes: readonly Wish[], words: string): Agent {
  const chain = chainAgent(wishes)
  return async (request, turn) => {
    // A real model takes time to reply, in which a host may re-list.
    if (turn > 0) await pause(latencyMs)
    const action = await chain(request, turn)
    return action.kind === 'call' ? action : (searchHost(request, words) ?? action)
  }
}
