/** W3C trace context, as sent in `_meta`. */
export interface Trace {
  readonly traceparent: string
  readonly tracestate?: string
}

const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/u
const tracestate = /^[\x20-\x7e]{1,512}$/u

/** Returns the caller's trace context if it is valid. Baggage is not forwarded: it is private to the caller. */
export function traceOf(meta: { readonly [key: string]: unknown } | undefined): Trace | undefined {
  const parent = meta?.traceparent
  if (typeof parent !== 'string' || parent.length !== 55 || !traceparent.test(parent)) return undefined
  const state = meta?.tracestate
  return { traceparent: parent, ...(typeof state === 'string' && tracestate.test(state) && { tracestate: state }) }
}
