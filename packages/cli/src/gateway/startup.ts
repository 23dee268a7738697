import type { Gateway, UpstreamEvent } from '@unfold-mcp/gateway'
import { type Clean, nameWidth, notStartedText, serverLine } from '../status/summary.ts'
import { safeText } from '../text/safe.ts'

export interface WaitOptions {
  /** Receives a status line for each server. Without it, cached tools suffice. */
  readonly tell?: (line: string) => void
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
  { upstreams, held, source }: Gateway,
  { tell, clean, signal, timeoutMs, names = upstreams.names }: WaitOptions,
): Promise<readonly string[]> {
  const begun = performance.now()
  const waiting = new Set(names)
  const width = nameWidth([...waiting, ...held.keys()])
  const say = (name: string, words: string): void => tell?.(`${safeText(name).padEnd(width)}  ${words}`)
  for (const [name, [problem]] of held) say(name, notStartedText(problem?.message))
  return new Promise((resolve) => {
    const lineOf = (name: string): string => {
      const status = upstreams.get(name)?.status
      return status === undefined ? 'removed' : serverLine(status, source.count(name), clean)
    }
    const late = setTimeout(
      () => {
        for (const name of waiting) say(name, lineOf(name))
        done()
      },
      Math.min(timeoutMs, maxTimerMs),
    )
    const done = (): void => {
      clearTimeout(late)
      stop()
      signal.removeEventListener('abort', done)
      resolve([...waiting])
    }
    const over = (name: string, more = ''): void => {
      if (!waiting.delete(name)) return
      say(name, `${lineOf(name)}${more}`)
      if (waiting.size === 0) done()
    }
    const listed = (name: string): void => over(name, `, ${Math.round(performance.now() - begun)} ms`)
    const look = (name: string): void => {
      const state = upstreams.get(name)?.state
      const isComing = state === 'starting' || state === 'installing' || state === 'ready'
      if (!isComing || (tell === undefined && upstreams.tools(name).length > 0)) over(name)
    }
    const stop = upstreams.events.all((event: UpstreamEvent) => {
      if (event.type === 'listed') listed(event.upstream)
      else if (event.type === 'state') look(event.upstream)
    })
    signal.addEventListener('abort', done)
    if (waiting.size === 0) done()
    for (const name of [...waiting]) {
      look(name)
      // A fast server may have been listed before the listener was added.
      if (upstreams.get(name)?.state === 'ready')
        upstreams.discoverTools(name).then(
          () => listed(name),
          () => undefined,
        )
    }
  })
}
