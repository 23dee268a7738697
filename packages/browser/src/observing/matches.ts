import { ToolError } from '@unfold-mcp/server'
import type { Kind, LogEntry, LogLevel, NetworkRequest, Records, SocketEvent, UserAction } from '../records/records.ts'
import { quoted } from '../reply/reply.ts'

interface Everywhere {
  /** Only the record with this sequence number. */
  readonly seq?: number
  readonly tab?: string
}

/** Filters for each kind of record. Texts match as case-insensitive substrings. */
export interface Matches {
  readonly logs: Everywhere & {
    readonly level?: LogLevel | readonly LogLevel[]
    readonly contains?: string
    readonly from?: LogEntry['from']
  }
  readonly network: Everywhere & {
    readonly method?: string
    /** A status such as 404, a class such as `4xx`, `failed` for no response, or `error` for that or a status from 400. */
    readonly status?: number | string
    readonly type?: string
    readonly url?: string
    /** How much of the bodies is shown. Default: nothing. */
    readonly bodies?: 'none' | 'cut' | 'full'
    /** Show headers; default with full bodies. */
    readonly headers?: boolean
  }
  readonly sockets: Everywhere & {
    readonly socket?: string
    readonly direction?: 'sent' | 'received'
    readonly contains?: string
  }
  readonly actions: Everywhere & { readonly action?: UserAction['action'] }
  readonly snapshots: Everywhere & { readonly url?: string }
  readonly audits: Everywhere & { readonly url?: string }
}

type Test<K extends Kind> = (record: Records[K]) => boolean

/** Creates the predicate for a filter; throws if it is invalid. */
export function testOf<K extends Kind>(kind: K, match: Matches[K] | undefined): Test<K> {
  if (match === undefined) return () => true
  const { seq, tab } = match
  const own = tests[kind](match)
  return (record) => (seq === undefined || record.seq === seq) && (tab === undefined || record.tab === tab) && own(record)
}

const tests: { readonly [K in Kind]: (match: Matches[K]) => Test<K> } = {
  logs: ({ level, contains, from }) => {
    const levels = typeof level === 'string' ? [level] : level
    const has = finder(contains)
    return (entry) =>
      (levels === undefined || levels.includes(entry.level)) &&
      (from === undefined || entry.from === from) &&
      (has(entry.text) || (entry.stack !== undefined && has(entry.stack)))
  },
  network: ({ method, status, type, url }) => {
    const isStatus = statusTest(status)
    const has = finder(url)
    return (request) =>
      (method === undefined || request.method.toUpperCase() === method.toUpperCase()) &&
      (type === undefined || request.type.toLowerCase() === type.toLowerCase()) &&
      isStatus(request) &&
      has(request.url)
  },
  sockets: ({ socket, direction, contains }) => {
    const has = finder(contains)
    return (event: SocketEvent) =>
      (socket === undefined || event.socket === socket) &&
      (direction === undefined || event.event === direction) &&
      (contains === undefined || (event.text !== undefined && has(event.text)))
  },
  actions:
    ({ action }) =>
    (done) =>
      action === undefined || done.action === action,
  snapshots: ({ url }) => {
    const has = finder(url)
    return (snapshot) => has(snapshot.url)
  },
  audits: ({ url }) => {
    const has = finder(url)
    return (audit) => has(audit.url)
  },
}

function finder(part: string | undefined): (text: string) => boolean {
  if (part === undefined || part === '') return () => true
  const wanted = part.toLowerCase()
  return (text) => text.toLowerCase().includes(wanted)
}

function statusTest(status: number | string | undefined): (request: NetworkRequest) => boolean {
  if (status === undefined) return () => true
  const wanted = String(status).toLowerCase()
  const hasFailed = (request: NetworkRequest): boolean => request.failure !== undefined || request.status === 0
  if (wanted === 'failed') return hasFailed
  if (wanted === 'error') return (request) => hasFailed(request) || request.status >= 400
  if (/^[1-5]xx$/.test(wanted)) return (request) => Math.floor(request.status / 100) === Number(wanted[0])
  if (/^[1-5]\d\d$/.test(wanted)) return (request) => request.status === Number(wanted)
  throw new ToolError(
    `${quoted(String(status), 40)} is no status. Give one such as 404, a class such as "4xx", "failed" for requests without an ` +
      'answer, or "error" for those and every status from 400 on.',
  )
}
