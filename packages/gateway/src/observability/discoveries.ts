import type { EventStream } from '../upstreams/events.ts'

/** One time that the tools of a server were read. */
export interface Discovery {
  readonly upstream: string
  /** `first`: since it was met. `changed`: because they had changed. */
  readonly outcome: 'first' | 'changed' | 'failed'
  readonly ms: number
  /** How often they had to be read. */
  readonly looks: number
}

/** Tells of every time that the tools of a server were read, each once. */
export function followDiscoveries(events: EventStream, tell: (discovery: Discovery) => void): void {
  const met = new Set<string>()
  events.on('connected', ({ upstream }) => met.add(upstream))
  events.on('listed', ({ upstream, ms }) => {
    met.delete(upstream)
    tell({ upstream, outcome: 'first', ms, looks: 1 })
  })
  events.on('tools', ({ upstream, looks, ms }) => {
    // What the first look finds is told when it is over; what left with its server was not read.
    if (looks > 0 && !met.has(upstream)) tell({ upstream, outcome: 'changed', ms, looks })
  })
  events.on('discovery_failed', ({ upstream }) => tell({ upstream, outcome: 'failed', ms: 0, looks: 1 }))
}
