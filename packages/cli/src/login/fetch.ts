import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { FetchLike } from '@modelcontextprotocol/client'
import { timeLimit } from '../base/time-limit.ts'
import { AddressError, type AllowedAddresses, type ResolvedAddress } from './allowed-addresses.ts'

const requestTimeoutMs = 30_000
const maxBytes = 1_000_000
const maxRedirects = 5
const redirects = new Set([301, 302, 303, 307, 308])

export interface BoundedFetchOptions {
  readonly addresses: AllowedAddresses
  readonly signal?: AbortSignal
}

/**
 * `fetch` for authorization servers, with a timeout and a size limit. Connects only to allowed addresses, on every redirect too: a
 * host name is resolved once and the connection uses the checked addresses.
 */
export function boundedFetch({ addresses, signal }: BoundedFetchOptions): FetchLike {
  return async (input, init = {}) => {
    using limit = timeLimit(requestTimeoutMs, [signal, init.signal])
    let url = new URL(input)
    const { method, headers, body } = await requestOf(url, init)
    for (let hop = 0; ; hop++) {
      const target = { url, addresses: await addresses.of(url).catch(networkError), signal: limit.signal }
      const response = await exchange(target, { method, headers, body })
      const location = response.headers.get('location')
      if (!redirects.has(response.status) || location === null || init.redirect === 'manual') return response
      // POST bodies contain secrets and must not be redirected.
      if (init.redirect === 'error' || method !== 'GET')
        throw new Error(`${url.origin} redirects a ${method} request, which is not allowed.`)
      if (hop === maxRedirects) throw new Error(`${url.origin} redirects more than ${maxRedirects} times.`)
      const next = new URL(location, url)
      if (next.origin !== url.origin) headers.delete('authorization')
      url = next
    }
  }
}

interface Message {
  readonly method: string
  readonly headers: Headers
  readonly body: Buffer
}

type Init = NonNullable<Parameters<FetchLike>[1]>

/** Converts the arguments of `fetch`, which sets the content type of a body. */
async function requestOf(url: URL, { method, headers, body }: Init): Promise<Message> {
  const request = new Request(url, { ...(method && { method }), ...(headers && { headers }), ...(body && { body }) })
  const all = new Headers(request.headers)
  if (!all.has('accept')) all.set('accept', '*/*')
  // The response is not decompressed.
  all.set('accept-encoding', 'identity')
  if (!all.has('user-agent')) all.set('user-agent', 'unfold')
  return { method: request.method, headers: all, body: Buffer.from(await request.arrayBuffer()) }
}

interface ExchangeTarget {
  readonly url: URL
  readonly addresses: readonly ResolvedAddress[]
  readonly signal: AbortSignal
}

async function exchange({ url, addresses, signal }: ExchangeTarget, { method, headers, body }: Message): Promise<Response> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const length = body.length > 0 || method === 'POST' ? { 'content-length': String(body.length) } : {}
    send(url, {
      method,
      headers: { ...Object.fromEntries(headers), ...length },
      // A shared agent could reuse a connection that was opened under other rules.
      agent: false,
      lookup: fixedLookup(addresses),
      signal,
    })
      .on('response', resolve)
      .on('error', (cause) => reject(signal.aborted ? signal.reason : fetchError(cause)))
      .end(body)
  })
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
  const received = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) received.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  const text = await textOf(response, url.href)
  return new Response([204, 205, 304].includes(status) ? null : text, { status, statusText, headers: received })
}

// `fetch` throws `TypeError` for network failures; the SDK ignores other errors during discovery.
const fetchError = (cause: unknown): TypeError => new TypeError('fetch failed', { cause })

function networkError(error: unknown): never {
  throw error instanceof AddressError ? error : fetchError(error)
}

/** Connects to these addresses, without another DNS request. */
const fixedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first = { address: '', family: 0 }] = addresses
    if (all === true) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }

async function textOf(body: AsyncIterable<Uint8Array>, from: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`The response of ${from} exceeds ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
