import type { EventStream } from '../upstreams/events.ts'

/** One time that the tools of a server were read. */
export interface Discovery {
  readonly upstream: string
  /** `first`: since it was met. `changed`: because they had changed. */
  readonly outcome: 'first' | 'changed' | 'failed'
  readonly ms: number
  /** How often they had to be read. */
  readonly reads: number
}

/** Tells of every time that the tools of a server were read, each once. */
export function onDiscovery(events: EventStream, tell: (discovery: Discovery) => void): void {
  const met = new Set<string>()
  events.on('connected', ({ upstream }) => met.add(upstream))
  events.on('listed', ({ upstream, ms }) => {
    met.delete(upstream)
    tell({ upstream, outcome: 'first', ms, reads: 1 })
  })
  events.on('tools', ({ upstream, reads, ms }) => {
    // What the first look finds is told when it is over; what left with its server was not read.
    if (reads > 0 && !met.has(upstream)) tell({ upstream, outcome: 'changed', ms, reads })
  })
  events.on('list_failed', ({ upstream }) => tell({ upstream, outcome: 'failed', ms: 0, reads: 1 }))
}
