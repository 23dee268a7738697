import type * as OpenTelemetry from '@opentelemetry/api'
import { version } from '../base/version.ts'
import type { EventStream } from '../upstreams/events.ts'
import { onDiscovery } from './discoveries.ts'

/** OpenTelemetry of the host program. Without an SDK it does nothing. */
export interface Telemetry {
  readonly api: typeof OpenTelemetry
  readonly tracer: OpenTelemetry.Tracer
}

// Global registry shared by all copies of the API.
const registered = Symbol.for('opentelemetry.js.api.1')

/** Loads OpenTelemetry if the host program has registered an SDK. */
export async function loadTelemetry(): Promise<Telemetry | undefined> {
  if (!(registered in globalThis)) return undefined
  try {
    const api = await import('@opentelemetry/api')
    return { api, tracer: api.trace.getTracer('@unfold-mcp/gateway', version) }
  } catch {
    return undefined
  }
}

/** Creates a span for each discovery after it has finished. */
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
