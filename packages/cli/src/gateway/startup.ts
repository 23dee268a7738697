import type { Gateway, UpstreamEvent } from '@unfold-mcp/gateway'
import { type Clean, nameWidth, notStartedText, serverLine } from '../status/summary.ts'
import { safeText } from '../text/safe.ts'

export interface WaitOptions {
  /** Is told a line for each server as it comes up. Without it, tools that are known from before will do. */
  readonly tell?: (line: string) => void
  /** Takes out of what servers say what must not be told. */
  readonly clean?: Clean
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** The servers to wait for; default: all. */
  readonly names?: readonly string[]
}

// What a timer can hold.
const maxTimerMs = 2_147_483_647

/**
 * Done when every server of a gateway has its tools, or will not have them soon, or has kept us waiting too long. Resolves with the
 * names of those that did.
 */
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
      // One that was quick may have been listed before anybody listened.
      if (upstreams.get(name)?.state === 'ready')
        upstreams.discoverTools(name).then(
          () => listed(name),
          () => undefined,
        )
    }
  })
}
