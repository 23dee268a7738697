import type { NetworkRequest } from '../records/records.ts'
import type { EventOf } from './protocol.ts'

type Timing = NonNullable<EventOf<'Network.responseReceived'>['response']['timing']>

interface Moments {
  /** Start, in seconds of the browser clock. */
  readonly askedAt: number
  /** End. */
  readonly overAt: number
  /** Timing data of the browser; absent for cached responses. */
  readonly timing: Timing | undefined
}

/** Converts to HAR timings: the parts that are not -1 add up to the total; `connect` includes `ssl`. */
export function timingsOf({ askedAt, overAt, timing }: Moments): NetworkRequest['timings'] {
  const whole = Math.max(0, (overAt - askedAt) * 1_000)
  if (timing === undefined || timing.requestTime === 0) {
    return { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: rounded(whole), receive: 0 }
  }
  const queued = Math.max(0, (timing.requestTime - askedAt) * 1_000)
  const begun = [timing.dnsStart, timing.connectStart, timing.sendStart].find((at) => at >= 0) ?? 0
  const headers = timing.receiveHeadersEnd
  return {
    blocked: rounded(queued + begun),
    dns: between(timing.dnsStart, timing.dnsEnd),
    connect: between(timing.connectStart, timing.connectEnd),
    ssl: between(timing.sslStart, timing.sslEnd),
    send: Math.max(0, between(timing.sendStart, timing.sendEnd)),
    wait: rounded(Math.max(0, headers - timing.sendEnd)),
    receive: rounded(Math.max(0, (overAt - timing.requestTime) * 1_000 - headers)),
  }
}

function between(start: number, end: number): number {
  return start < 0 || end < 0 ? -1 : rounded(Math.max(0, end - start))
}

// The browser reports microseconds.
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
