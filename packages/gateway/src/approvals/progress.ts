import type { Clock } from '@unfold-mcp/client'
import type { ProxiedCall } from '../middleware/chain.ts'

const intervalMs = 10_000
// Progress must increase, and the server starts at 0 or 1.
const step = 1e-6

/** Progress messages of a waiting call. */
export interface WaitingProgress {
  readonly isRequested: boolean
  stop(): void
}

/** Reports progress until it is stopped, if the client asked for it. Many hosts extend their timeout with each message. */
export function reportProgress({ ctx }: ProxiedCall, clock: Clock): WaitingProgress {
  if (ctx.meta?.progressToken === undefined) return { isRequested: false, stop: () => undefined }
  let count = 0
  let cancel: () => void = () => undefined
  const report = (): void => {
    ctx.progress(++count * step, undefined, 'Waiting for approval: run "unfold approvals"').catch(() => undefined)
    cancel = clock.after(intervalMs, report, true)
  }
  report()
  return { isRequested: true, stop: () => cancel() }
}
