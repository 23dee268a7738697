import type { Agent } from '../endpoint/endpoint.ts'
import { plainAgent, type Wish } from './plain.ts'
import { exchangesOf } from './tools.ts'

/** An agent that calls a tool with a long result and looks up the truncated part. */
export function longAgent(wish: Wish, find: string): Agent {
  return (request, turn) => {
    const handle = exchangesOf(request)
      .map(({ result }) => /"handle\\*":\s*\\*"([\w-]+)/u.exec(result.text)?.[1])
      .find((each) => each !== undefined)
    if (handle === undefined) return plainAgent(wish)(request, turn)
    const next: Wish = { ...wish, tool: 'read_result', arguments: { handle, find }, query: 'read on in a result', expect: find }
    return plainAgent(next)(request, turn)
  }
}
