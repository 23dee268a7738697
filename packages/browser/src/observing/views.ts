import type {
  Audit,
  Body,
  Header,
  Kind,
  LogEntry,
  NetworkRequest,
  PerformanceSnapshot,
  Recorded,
  Records,
  SocketEvent,
  UserAction,
} from '../records/records.ts'
import { truncate } from '../reply/reply.ts'
import type { Matches } from './matches.ts'

type View<K extends Kind> = (record: Records[K], max: number, match: Matches[K] | undefined) => object

/** Formats a record for a list, with texts of at most `max` characters. */
export function viewOf<K extends Kind>(kind: K, record: Records[K], max: number, match: Matches[K] | undefined): object {
  return views[kind](record, max, match)
}

const placeOf = ({ seq, at, tab }: Recorded) => ({ seq, at: timeText(at), tab })
const timeText = (at: number): string | number => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : at)
const some = <T>(name: string, value: T | undefined) => (value === undefined ? {} : { [name]: value })
const text = (name: string, value: string | undefined, max: number) =>
  value === undefined ? {} : { [name]: truncate(value, max) }

const views: { readonly [K in Kind]: View<K> } = {
  logs: logView,
  network: networkView,
  sockets: socketView,
  actions: actionView,
  snapshots: snapshotView,
  audits: auditView,
}

function logView(entry: LogEntry, max: number): object {
  const { source } = entry
  return {
    ...placeOf(entry),
    level: entry.level,
    from: entry.from,
    text: truncate(entry.text, max),
    ...(source !== undefined && { source: `${truncate(source.url, max)}:${source.line}:${source.column}` }),
    ...text('stack', entry.stack, max),
    url: truncate(entry.url, max),
  }
}

const cutBody = 500

function networkView(request: NetworkRequest, max: number, match: Matches['network'] | undefined): object {
  const bodies = match?.bodies ?? 'none'
  const length = bodies === 'cut' ? Math.min(cutBody, max) : Number.POSITIVE_INFINITY
  return {
    ...placeOf(request),
    method: request.method,
    url: truncate(request.url, max),
    status: request.status,
    type: request.type,
    ms: Math.max(0, Math.round(request.at - request.startedAt)),
    bytes: request.responseBody?.bytes ?? request.transferred,
    ...text('failure', request.failure, max),
    ...text('redirected_to', request.redirectedTo, max),
    ...(request.fromCache && { from_cache: true }),
    ...((match?.headers ?? bodies === 'full') && {
      request_headers: request.requestHeaders.map(headerText),
      response_headers: request.responseHeaders.map(headerText),
    }),
    ...(bodies !== 'none' && {
      ...some('request_body', bodyView(request.requestBody, length)),
      ...some('response_body', bodyView(request.responseBody, length)),
    }),
  }
}

const headerText = ({ name, value }: Header): string => `${name}: ${value}`

function bodyView(body: Body | undefined, max: number): object | undefined {
  if (body === undefined) return undefined
  const isCut = body.cut === true || (body.text !== undefined && body.text.length > max)
  return {
    type: body.mimeType,
    bytes: body.bytes,
    ...text('text', body.text, max),
    ...some('encoding', body.encoding),
    ...(isCut && { cut: true }),
    ...some('omitted', body.omitted),
  }
}

function socketView(event: SocketEvent, max: number): object {
  const isCut = event.cut === true || (event.text !== undefined && event.text.length > max)
  return {
    ...placeOf(event),
    socket: event.socket,
    event: event.event,
    ...text('text', event.text, max),
    ...some('encoding', event.encoding),
    bytes: event.bytes,
    ...(isCut && { cut: true }),
    url: truncate(event.url, max),
  }
}

function actionView({ selectors, url, value, seq, at, tab, ...rest }: UserAction, max: number): object {
  return {
    ...placeOf({ seq, at, tab }),
    ...rest,
    ...text('value', value, max),
    url: truncate(url, max),
    ...(selectors !== undefined && {
      selectors: Object.fromEntries(
        Object.entries(selectors).map(([name, each]: [string, unknown]) => [
          name,
          typeof each === 'string' ? truncate(each, max) : each,
        ]),
      ),
    }),
  }
}

function snapshotView({ seq, at, tab, url, longTasks, ...rest }: PerformanceSnapshot, max: number): object {
  return { ...placeOf({ seq, at, tab }), url: truncate(url, max), ...rest, long_tasks: longTasks }
}

function auditView({ seq, at, tab, url, ...rest }: Audit, max: number): object {
  return { ...placeOf({ seq, at, tab }), url: truncate(url, max), ...rest }
}
