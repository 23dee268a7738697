import type { Gateway, UpstreamEvent } from '@unfold-mcp/gateway'
import { type Clean, nameWidth, notStartedText, serverLine } from '../status/summary.ts'
import { safeText } from '../text/safe.ts'

export interface WaitOptions {
  /** Receives a status line for each server. Without it, cached tools suffice. */
  readonly onLine?: (line: string) => void
  /** Removes secrets from server output. */
  readonly clean?: Clean
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Servers to wait for; default: all. */
  readonly names?: readonly string[]
}

// Maximum delay of a Node timer.
const maxTimerMs = 2_147_483_647

/** Waits until every server has listed its tools or failed, or until the timeout. Returns the servers that are still starting. */
export function waitForServers(
  { upstreams, notStarted, source }: Gateway,
  { onLine, clean, signal, timeoutMs, names = upstreams.names }: WaitOptions,
): Promise<readonly string[]> {
  const startedAt = performance.now()
  const pending = new Set(names)
  const width = nameWidth([...pending, ...notStarted.keys()])
  const report = (name: string, status: string): void => onLine?.(`${safeText(name).padEnd(width)}  ${status}`)
  for (const [name, [problem]] of notStarted) report(name, notStartedText(problem?.message))
  return new Promise((resolve) => {
    const statusOf = (name: string): string => {
      const status = upstreams.get(name)?.status
      return status === undefined ? 'removed' : serverLine(status, source.toolCount(name), clean)
    }
    const timer = setTimeout(
      () => {
        for (const name of pending) report(name, statusOf(name))
        finish()
      },
      Math.min(timeoutMs, maxTimerMs),
    )
    const finish = (): void => {
      clearTimeout(timer)
      unsubscribe()
      signal.removeEventListener('abort', finish)
      resolve([...pending])
    }
    const settle = (name: string, suffix = ''): void => {
      if (!pending.delete(name)) return
      report(name, `${statusOf(name)}${suffix}`)
      if (pending.size === 0) finish()
    }
    const onListed = (name: string): void => settle(name, `, ${Math.round(performance.now() - startedAt)} ms`)
    const checkState = (name: string): void => {
      const state = upstreams.get(name)?.state
      const isStarting = state === 'starting' || state === 'installing' || state === 'ready'
      if (!isStarting || (onLine === undefined && upstreams.tools(name).length > 0)) settle(name)
    }
    const unsubscribe = upstreams.events.all((event: UpstreamEvent) => {
      if (event.type === 'listed') onListed(event.upstream)
      else if (event.type === 'state') checkState(event.upstream)
    })
    signal.addEventListener('abort', finish)
    if (pending.size === 0) finish()
    for (const name of [...pending]) {
      checkState(name)
      // A fast server may have been listed before the listener was added.
      if (upstreams.get(name)?.state === 'ready')
        upstreams.discoverTools(name).then(
          () => onListed(name),
          () => undefined,
        )
    }
  })
}
