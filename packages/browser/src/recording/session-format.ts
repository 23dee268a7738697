import { z } from 'zod'
import type { Body, Header, Kind, PerformanceSnapshot, Records, SocketStatus } from '../records/records.ts'

/** Format identifier of a saved session. */
export const format = 'unfold-browser-session'
export const version = 1

/**
 * Saved session: one JSON object. `records` has the records of each kind, oldest first, as in `records.ts`; `connections` the states of
 * WebSockets; `baselines` the performance baselines.
 */
export interface SavedSession {
  readonly format: typeof format
  readonly version: typeof version
  /** ISO time. */
  readonly savedAt: string
  readonly records: { readonly [K in Kind]: readonly Records[K][] }
  readonly connections: readonly SocketStatus[]
  readonly baselines: readonly PerformanceSnapshot[]
}

// Larger values are not a valid session.
const maxRecords = 100_000
const count = z.number().min(0)
const place = {
  seq: z.int().min(1).max(1e15),
  at: z.number(),
  tab: z.string(),
}
const isSet = z.literal(true).exactOptional()
const words = z.string().exactOptional()

const header: z.ZodType<Header> = z.strictObject({ name: z.string(), value: z.string() })
const headers = z.array(header).max(1_000)
const encoding = z.literal('base64').exactOptional()

const body: z.ZodType<Body> = z.strictObject({
  mimeType: z.string(),
  bytes: count,
  text: words,
  encoding,
  cut: isSet,
  omitted: words,
})

const timing = z.number().min(-1)

/** Strict schema of each kind of record. */
export const recordSchemas: { readonly [K in Kind]: z.ZodType<Records[K]> } = {
  logs: z.strictObject({
    ...place,
    level: z.enum(['error', 'warning', 'info', 'log', 'debug']),
    from: z.enum(['console', 'exception', 'browser']),
    text: z.string(),
    source: z.strictObject({ url: z.string(), line: z.number(), column: z.number() }).exactOptional(),
    stack: words,
    url: z.string(),
  }),
  network: z.strictObject({
    ...place,
    method: z.string(),
    url: z.string(),
    type: z.string(),
    requestHeaders: headers,
    requestBody: body.exactOptional(),
    status: z.int().min(0).max(999),
    statusText: z.string(),
    protocol: z.string(),
    responseHeaders: headers,
    responseBody: body.exactOptional(),
    remoteAddress: words,
    fromCache: z.boolean(),
    failure: words,
    redirectedTo: words,
    startedAt: z.number(),
    timings: z.strictObject({
      blocked: timing,
      dns: timing,
      connect: timing,
      ssl: timing,
      send: timing,
      wait: timing,
      receive: timing,
    }),
    transferred: count,
    pageUrl: z.string(),
  }),
  sockets: z.strictObject({
    ...place,
    socket: z.string(),
    url: z.string(),
    event: z.enum(['opened', 'sent', 'received', 'failed', 'closed']),
    text: words,
    encoding,
    bytes: count,
    cut: isSet,
  }),
  actions: z.strictObject({
    ...place,
    action: z.enum(['click', 'input', 'select', 'check', 'key', 'submit', 'scroll', 'navigation']),
    url: z.string(),
    pageUrl: words,
    selectors: z
      .strictObject({
        testId: words,
        role: z.strictObject({ role: z.string(), name: z.string() }).exactOptional(),
        label: words,
        placeholder: words,
        text: words,
        css: z.string(),
        xpath: z.string(),
      })
      .exactOptional(),
    value: words,
    secret: isSet,
    checked: z.boolean().exactOptional(),
    key: words,
    scroll: z.strictObject({ x: z.number(), y: z.number() }).exactOptional(),
    cause: words,
  }),
  snapshots: z.strictObject({
    ...place,
    url: z.string(),
    ttfb: z.number().exactOptional(),
    fcp: z.number().exactOptional(),
    lcp: z.number().exactOptional(),
    cls: z.number().exactOptional(),
    inp: z.number().exactOptional(),
    domContentLoaded: z.number().exactOptional(),
    load: z.number().exactOptional(),
    longTasks: z.strictObject({ count, total: count, longest: count }),
    requests: count,
    transferred: count,
  }),
  audits: z.strictObject({
    ...place,
    url: z.string(),
    engine: z.string(),
    faults: z
      .array(
        z.strictObject({
          rule: z.string(),
          impact: z.enum(['minor', 'moderate', 'serious', 'critical']),
          help: z.string(),
          description: z.string(),
          helpUrl: z.string(),
          tags: z.array(z.string()).max(200),
          elements: z.array(z.strictObject({ selector: z.string(), html: z.string(), summary: z.string() })).max(1_000),
          count,
        }),
      )
      .max(1_000),
    passes: count,
    incomplete: count,
  }),
}

const messages = z.strictObject({ messages: count, bytes: count })

const connection: z.ZodType<SocketStatus> = z.strictObject({
  id: z.string(),
  tab: z.string(),
  url: z.string(),
  state: z.enum(['connecting', 'open', 'closed']),
  openedAt: z.number().exactOptional(),
  closedAt: z.number().exactOptional(),
  closedBecause: words,
  sent: messages,
  received: messages,
  lastMessageAt: z.number().exactOptional(),
})

/** Requires increasing sequence numbers. */
function inOrder<R extends { readonly seq: number }>(record: z.ZodType<R>): z.ZodType<readonly R[]> {
  return z
    .array(record)
    .max(maxRecords)
    .superRefine((records, context) => {
      const index = records.findIndex(({ seq }, i) => i > 0 && seq <= (records[i - 1]?.seq ?? 0))
      if (index !== -1)
        context.addIssue({ code: 'custom', path: [index, 'seq'], message: 'it does not come after the one before' })
    })
}

/** Schema of the file. */
export const sessionSchema: z.ZodType<SavedSession> = z.strictObject({
  format: z.literal(format),
  version: z.literal(version),
  savedAt: z.iso.datetime(),
  records: z.strictObject({
    logs: inOrder(recordSchemas.logs),
    network: inOrder(recordSchemas.network),
    sockets: inOrder(recordSchemas.sockets),
    actions: inOrder(recordSchemas.actions),
    snapshots: inOrder(recordSchemas.snapshots),
    audits: inOrder(recordSchemas.audits),
  }),
  connections: z.array(connection).max(100),
  baselines: z.array(recordSchemas.snapshots).max(1_000),
})
