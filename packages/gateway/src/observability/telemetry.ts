import type * as OpenTelemetry from '@opentelemetry/api'
import { version } from '../base/version.ts'
import type { EventStream } from '../upstreams/events.ts'
import { onDiscovery } from './discoveries.ts'

/** OpenTelemetry, where the program that the gateway runs in has it. Without an SDK it does nothing. */
export interface Telemetry {
  readonly api: typeof OpenTelemetry
  readonly tracer: OpenTelemetry.Tracer
}

// Where every copy of the API keeps what was registered with it.
const registered = Symbol.for('opentelemetry.js.api.1')

/** OpenTelemetry, if the program has registered something with it before. */
export async function loadTelemetry(): Promise<Telemetry | undefined> {
  if (!(registered in globalThis)) return undefined
  try {
    const api = await import('@opentelemetry/api')
    return { api, tracer: api.trace.getTracer('@unfold-mcp/gateway', version) }
  } catch {
    return undefined
  }
}

/** A span for each time that the tools of a server were read, in hindsight. */
export function traceDiscoveries(events: EventStream, { api, tracer }: Telemetry): void {
  onDiscovery(events, ({ upstream, outcome, ms }) => {
    const end = Date.now()
    const span = tracer.startSpan(`tools/list ${upstream}`, {
      kind: api.SpanKind.CLIENT,
      startTime: end - ms,
      attributes: { 'mcp.method.name': 'tools/list', 'unfold.upstream': upstream, 'unfold.outcome': outcome },
    })
    if (outcome === 'failed') span.setStatus({ code: api.SpanStatusCode.ERROR }).setAttribute('error.type', 'list_failed')
    span.end(end)
  })
}
