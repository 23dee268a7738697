import { isIP } from 'node:net'
import type { Body, Header, NetworkRequest } from '../../records/records.ts'
import { isoTime } from '../time.ts'
import { uriOf, withoutFragment } from '../uri.ts'
import { sentCookies, setCookies } from './cookies.ts'
import type { HarContent, HarEntry } from './har-format.ts'

const maxQuery = 500
const maxMs = 1e9

/** Converts a request to a HAR entry. */
export function entryOf(request: NetworkRequest, pageref: string): HarEntry {
  const { startedAt, method, requestBody, status, statusText, protocol, redirectedTo, remoteAddress, failure } = request
  const httpVersion = protocol === '' ? 'unknown' : protocol
  const requestHeaders = request.requestHeaders.flatMap(lines)
  const responseHeaders = request.responseHeaders.flatMap(lines)
  const timings = timingsOf(request.timings)
  const ip = remoteAddress === undefined ? undefined : ipOf(remoteAddress)
  return {
    pageref,
    startedDateTime: isoTime(startedAt),
    time: totalOf(timings),
    request: {
      method,
      // HAR requires the URL without its fragment.
      url: uriOf(withoutFragment(request.url)),
      httpVersion,
      cookies: sentCookies(requestHeaders),
      headers: requestHeaders,
      queryString: queryOf(request.url),
      ...(requestBody && { postData: postDataOf(requestBody) }),
      headersSize: -1,
      bodySize: whole(requestBody?.bytes ?? 0),
    },
    response: {
      status: whole(status),
      statusText,
      httpVersion,
      cookies: setCookies(responseHeaders),
      headers: responseHeaders,
      content: contentOf(request.responseBody),
      redirectURL: redirectedTo ?? '',
      headersSize: -1,
      bodySize: request.fromCache ? 0 : -1,
      _transferSize: whole(request.transferred),
      _error: failure ?? null,
    },
    cache: request.fromCache ? { comment: 'It came from the cache.' } : {},
    timings,
    ...(ip !== undefined && { serverIPAddress: ip }),
    _resourceType: request.type,
  }
}

function postDataOf({ mimeType, text, encoding, cut, omitted }: Body): NonNullable<HarEntry['request']['postData']> {
  // HAR cannot represent binary request bodies.
  if (encoding === 'base64') return { mimeType, text: '', comment: 'Binary request body omitted.' }
  const comment = remark(cut, omitted)
  return { mimeType, text: text ?? '', ...(comment && { comment }) }
}

function contentOf(body: Body | undefined): HarContent {
  if (body === undefined) return { size: 0, mimeType: 'x-unknown' }
  const { mimeType, bytes, text, encoding, cut, omitted } = body
  const comment = remark(cut, omitted)
  return {
    size: whole(bytes),
    mimeType: mimeType === '' ? 'x-unknown' : mimeType,
    ...(text !== undefined && { text }),
    ...(text !== undefined && encoding && { encoding }),
    ...(comment && { comment }),
  }
}

function remark(cut: true | undefined, omitted: string | undefined): string | undefined {
  if (omitted !== undefined) return `Omitted: ${omitted}.`
  return cut ? 'Only its beginning is kept.' : undefined
}

/** Splits a header with several values. */
function lines({ name, value }: Header): readonly Header[] {
  return value.split('\n').map((line) => ({ name, value: line }))
}

function queryOf(url: string): readonly Header[] {
  if (!URL.canParse(url)) return []
  return [...new URL(url).searchParams].slice(0, maxQuery).map(([name, value]) => ({ name, value }))
}

/** Converts timings to HAR: -1 only for optional parts. */
function timingsOf({ blocked, dns, connect, ssl, send, wait, receive }: NetworkRequest['timings']): NetworkRequest['timings'] {
  return {
    blocked: optional(blocked),
    dns: optional(dns),
    connect: optional(connect),
    ssl: optional(ssl),
    send: Math.max(0, optional(send)),
    wait: Math.max(0, optional(wait)),
    receive: Math.max(0, optional(receive)),
  }
}

function optional(ms: number): number {
  return ms >= 0 && ms <= maxMs ? ms : -1
}

/** Total time; `connect` includes the TLS handshake. */
function totalOf({ blocked, dns, connect, send, wait, receive }: NetworkRequest['timings']): number {
  return [blocked, dns, connect, send, wait, receive].filter((ms) => ms > 0).reduce((sum, ms) => sum + ms, 0)
}

function ipOf(address: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, '$1')
  return isIP(bare) > 0 ? bare : undefined
}

function whole(number: number): number {
  return Number.isFinite(number) ? Math.max(-1, Math.round(number)) : -1
}
