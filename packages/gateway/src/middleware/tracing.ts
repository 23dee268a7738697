import type { Context, Span } from '@opentelemetry/api'
import type { Telemetry } from '../observability/telemetry.ts'
import type { CallHandler, Middleware, ProxiedCall, ProxiedResult } from './chain.ts'
import { outcomeOf, reasonOf } from './outcome.ts'
import { type Trace, traceOf } from './trace.ts'

/** Creates spans for calls within the caller's trace, and forwards the trace context to the upstream. */
export function traceCalls(telemetry: Telemetry | undefined): Middleware {
  return (call, next) => {
    const trace = traceOf(call.ctx.meta)
    if (telemetry !== undefined) return callInSpan(telemetry, trace, call, next)
    return next(trace === undefined ? call : { ...call, trace })
  }
}

async function callInSpan(
  telemetry: Telemetry,
  trace: Trace | undefined,
  call: ProxiedCall,
  next: CallHandler,
): Promise<ProxiedResult> {
  const { api, tracer } = telemetry
  const { upstream, tool } = call
  const attributes = {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'unfold.upstream': upstream,
  }
  const name = `tools/call ${tool}`
  const parent = parentOf(telemetry, trace)
  const serverSpan = tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes }, parent)
  const serverContext = api.trace.setSpan(parent, serverSpan)
  const clientSpan = tracer.startSpan(name, { kind: api.SpanKind.CLIENT, attributes }, serverContext)
  const end = (error?: string): void => {
    for (const span of [clientSpan, serverSpan]) {
      if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR }).setAttribute('error.type', error)
      span.end()
    }
  }
  try {
    const outgoing = traceIn(telemetry, clientSpan)
    const result = await api.context.with(api.trace.setSpan(serverContext, clientSpan), () =>
      next(outgoing === undefined ? call : { ...call, trace: outgoing }),
    )
    end(outcomeOf(result) === 'error' ? 'tool_error' : undefined)
    return result
  } catch (error) {
    end(reasonOf(error))
    throw error
  }
}

function parentOf({ api }: Telemetry, trace: Trace | undefined): Context {
  const active = api.context.active()
  if (trace === undefined) return active
  const [, traceId = '', spanId = '', flags = '00'] = trace.traceparent.split('-')
  return api.trace.setSpanContext(active, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(trace.tracestate !== undefined && { traceState: api.createTraceState(trace.tracestate) }),
  })
}

function traceIn({ api }: Telemetry, span: Span): Trace | undefined {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  if (!api.isSpanContextValid(span.spanContext())) return undefined
  const state = traceState?.serialize() ?? ''
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0')
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(state !== '' && { tracestate: state }) }
}
