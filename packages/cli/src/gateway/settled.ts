import type { Gateway, UpstreamEvent, UpstreamStatus } from '@unfold-mcp/gateway'
import { counted } from '../text/amount.ts'
import { safeText } from '../text/safe.ts'
import { signInText } from './status-text.ts'
import { ofTools } from './words.ts'

export interface SettledOptions {
  /** Is told a line for each server as it comes up. Without it, tools that are known from before will do. */
  readonly tell?: (line: string) => void
  /** Takes out of what servers say what must not be told. */
  readonly clean?: (text: string) => string
  readonly signal: AbortSignal
  readonly patienceMs: number
}

const asItIs = (text: string): string => text

/** Done when every server of a gateway has its tools, or will not have them soon, or has kept us waiting too long. */
export function settled(
  { upstreams, held, source }: Gateway,
  { tell, clean = asItIs, signal, patienceMs }: SettledOptions,
): Promise<void> {
  const begun = performance.now()
  const waiting = new Set(upstreams.names)
  const width = Math.max(0, ...[...waiting, ...held.keys()].map((name) => safeText(name).length))
  const say = (name: string, words: string): void => tell?.(`${safeText(name).padEnd(width)}  ${words}`)
  for (const [name, [problem]] of held)
    say(name, `not started: ${safeText(problem?.message ?? 'its configuration is incomplete.')}`)
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      for (const name of waiting) say(name, 'still starting')
      done()
    }, patienceMs)
    const done = (): void => {
      clearTimeout(late)
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const over = (name: string, words: string): void => {
      if (!waiting.delete(name)) return
      say(name, words)
      if (waiting.size === 0) done()
    }
    const listed = (name: string): void => {
      const ms = Math.round(performance.now() - begun)
      over(name, `ready, ${ofTools(source.count(name), upstreams.tools(name).length)}, ${ms} ms`)
    }
    const look = (name: string): void => {
      const status = upstreams.get(name)?.status
      const words = status === undefined ? 'removed' : wordsFor(status, clean)
      if (words !== undefined) over(name, words)
      else if (tell === undefined && upstreams.tools(name).length > 0) over(name, '')
    }
    const stop = upstreams.events.all((event: UpstreamEvent) => {
      if (event.type === 'listed') listed(event.upstream)
      else if (event.type === 'discovery_failed')
        over(
          event.upstream,
          `runs, but does not list its tools: ${safeText(clean(event.error), { limit: 300 })} It is asked again.`,
        )
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

/** What there is to say of a server that will not have its tools for a while; nothing of one that is about to. */
function wordsFor(
  { name, address, state, tools, lastError }: UpstreamStatus,
  clean: (text: string) => string,
): string | undefined {
  switch (state) {
    case 'starting':
    case 'ready':
      return undefined
    case 'sleeping':
      return `sleeps until its first call, ${counted(tools, 'tool')} known`
    case 'needs_login':
      return `wants a login; ${signInText({ name, ...(address !== undefined && { address }) })}`
    case 'disabled':
    case 'stopped':
      return state
    default:
      return `does not run: ${safeText(clean(lastError ?? 'it did not say why.'), { limit: 500 })} It is tried again.`
  }
}
