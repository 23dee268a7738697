import { Failure, Shares } from '@unfold-mcp/core'
import { callerPath } from '../access/caller-path.ts'
import type { Middleware } from './chain.ts'

/** Limits the running and queued calls of all servers together, with a share for each client. */
export function shareCalls(limit: () => number): Middleware {
  const shares = new Shares(limit)
  return (call, next) => {
    const path = callerPath(call.ctx)
    const release = shares.take(path)
    if (release === undefined) return Promise.reject(busy(shares, shares.held(path.slice(0, 1))))
    const result = next(call)
    result.then(release, release)
    return result
  }
}

function busy({ total, isFull, limit }: Shares, own: number): Failure<'busy'> {
  const cause = isFull
    ? `${limit} calls are running or queued, ${own} of them yours`
    : `${own} of your calls are running or queued, and other clients need the rest`
  const message = `The gateway is busy: ${cause}. The tool was not called; wait for your other calls to finish, then try again.`
  return new Failure('busy', message, { running: total, waiting: 0 })
}
