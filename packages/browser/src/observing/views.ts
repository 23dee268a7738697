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
import { beginning } from '../reply/reply.ts'
import type { Matches } from './matches.ts'

type View<K extends Kind> = (record: Records[K], most: number, match: Matches[K] | undefined) => object

/** A record as a list shows it: what is read first, and texts of at most so many characters. */
export function viewOf<K extends Kind>(kind: K, record: Records[K], most: number, match: Matches[K] | undefined): object {
  return views[kind](record, most, match)
}

const placeOf = ({ seq, at, tab }: Recorded) => ({ seq, at: timeText(at), tab })
const timeText = (at: number): string | number => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : at)
const some = <T>(name: string, value: T | undefined) => (value === undefined ? {} : { [name]: value })
const text = (name: string, value: string | undefined, most: number) =>
  value === undefined ? {} : { [name]: beginning(value, most) }

const views: { readonly [K in Kind]: View<K> } = {
  logs: logView,
  network: networkView,
  sockets: socketView,
  actions: actionView,
  snapshots: snapshotView,
  audits: auditView,
}

function logView(entry: LogEntry, most: number): object {
  const { source } = entry
  return {
    ...placeOf(entry),
    level: entry.level,
    from: entry.from,
    text: beginning(entry.text, most),
    ...(source !== undefined && { source: `${beginning(source.url, most)}:${source.line}:${source.column}` }),
    ...text('stack', entry.stack, most),
    url: beginning(entry.url, most),
  }
}

const cutBody = 500

function networkView(request: NetworkRequest, most: number, match: Matches['network'] | undefined): object {
  const bodies = match?.bodies ?? 'none'
  const length = bodies === 'cut' ? Math.min(cutBody, most) : Number.POSITIVE_INFINITY
  return {
    ...placeOf(request),
    method: request.method,
    url: beginning(request.url, most),
    status: request.status,
    type: request.type,
    ms: Math.max(0, Math.round(request.at - request.startedAt)),
    bytes: request.responseBody?.bytes ?? request.transferred,
    ...text('failure', request.failure, most),
    ...text('redirected_to', request.redirectedTo, most),
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

function bodyView(body: Body | undefined, most: number): object | undefined {
  if (body === undefined) return undefined
  const isCut = body.cut === true || (body.text !== undefined && body.text.length > most)
  return {
    type: body.mimeType,
    bytes: body.bytes,
    ...text('text', body.text, most),
    ...some('encoding', body.encoding),
    ...(isCut && { cut: true }),
    ...some('omitted', body.omitted),
  }
}

function socketView(event: SocketEvent, most: number): object {
  const isCut = event.cut === true || (event.text !== undefined && event.text.length > most)
  return {
    ...placeOf(event),
    socket: event.socket,
    event: event.event,
    ...text('text', event.text, most),
    ...some('encoding', event.encoding),
    bytes: event.bytes,
    ...(isCut && { cut: true }),
    url: beginning(event.url, most),
  }
}

function actionView({ selectors, url, value, seq, at, tab, ...rest }: UserAction, most: number): object {
  return {
    ...placeOf({ seq, at, tab }),
    ...rest,
    ...text('value', value, most),
    url: beginning(url, most),
    ...(selectors !== undefined && {
      selectors: Object.fromEntries(
        Object.entries(selectors).map(([name, each]: [string, unknown]) => [
          name,
          typeof each === 'string' ? beginning(each, most) : each,
        ]),
      ),
    }),
  }
}

function snapshotView({ seq, at, tab, url, longTasks, ...rest }: PerformanceSnapshot, most: number): object {
  return { ...placeOf({ seq, at, tab }), url: beginning(url, most), ...rest, long_tasks: longTasks }
}

function auditView({ seq, at, tab, url, ...rest }: Audit, most: number): object {
  return { ...placeOf({ seq, at, tab }), url: beginning(url, most), ...rest }
}
