import type { EventStream } from '../upstreams/events.ts'

/** One discovery of a server's tools. */
export interface Discovery {
  readonly upstream: string
  /** `first`: after connecting. `changed`: after a change. */
  readonly outcome: 'first' | 'changed' | 'failed'
  readonly ms: number
  /** Number of `tools/list` reads. */
  readonly reads: number
}

/** Calls `listener` once for each discovery. */
export function onDiscovery(events: EventStream, listener: (discovery: Discovery) => void): void {
  const unlisted = new Set<string>()
  events.on('connected', ({ upstream }) => unlisted.add(upstream))
  events.on('listed', ({ upstream, ms }) => {
    unlisted.delete(upstream)
    listener({ upstream, outcome: 'first', ms, reads: 1 })
  })
  events.on('tools', ({ upstream, reads, ms }) => {
    // The first read is reported by `listed`. Without a read, the tools are gone because the server is.
    if (reads > 0 && !unlisted.has(upstream)) listener({ upstream, outcome: 'changed', ms, reads })
  })
  events.on('list_failed', ({ upstream }) => listener({ upstream, outcome: 'failed', ms: 0, reads: 1 }))
}
