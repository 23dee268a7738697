import type { Recording } from '../recording/recording.ts'
import type { Body, Header, NetworkRequest } from '../records/records.ts'
import { isTextual, omittedBody, readableBodyLimit, requestBodyLimit, responseBodyLimit, truncateBody } from './bodies.ts'
import type { EventOf } from './protocol.ts'
import { shortened } from './text.ts'
import { timingsOf } from './timings.ts'
import { addressOf } from './url.ts'
import type { Wire } from './wire/wire.ts'

type Sent = EventOf<'Network.requestWillBeSent'>
type Response = EventOf<'Network.responseReceived'>['response']
type Headers = Sent['request']['headers']

const maxInFlight = 2_000
const maxHeaders = 200
const maxHeaderLength = 4 * 1024
const bodyMs = 5_000
// The browser does not finish a request whose response the page never reads.
const unreadMs = 2_000
const endless = /^(?:text\/event-stream|application\/(?:x-)?ndjson|multipart\/x-mixed-replace)/i
// Extra info of the network process may arrive after the events of the renderer.
const extrasMs = 250
// Reading all bodies of a page at once would block other commands.
const maxConcurrentReads = 6

/** One request; a redirect ends it and begins the next. */
interface Hop {
  readonly sent: Sent
  readonly startedAt: number
  response?: Response
  /** Extra info of the network process is expected. */
  hasExtras: boolean
  isCached: boolean
  decodedBytes: number
  encodedBytes: number
}

/** Actual headers from the network process: one entry per hop, in order. */
interface Extras {
  readonly sent: Headers[]
  readonly got: Headers[]
  /** Number of entries that belong to completed hops. */
  taken: number
  /** Called when more has arrived. */
  wake?: () => void
}

/** All hops with the same request id. */
interface Flight {
  hop: Hop
  isEnding: boolean
  unread?: NodeJS.Timeout
}

interface End {
  readonly overAt: number
  readonly failure?: string
  readonly redirectedTo?: string
  /** Session to read the body from. */
  readonly session?: string
  /** The page has not read the response. */
  readonly isUnread?: true
}

interface Context {
  readonly tab: string
  readonly now: () => number
  /** Called for each completed request. */
  readonly counted: (bytes: number) => void
}

/** Requests of a tab; each is recorded on completion. */
export class Requests {
  readonly #wire: Wire
  readonly #recording: Recording
  readonly #context: Context
  readonly #flights = new Map<string, Flight>()
  readonly #extras = new Map<string, Extras>()
  readonly #queue: (() => void)[] = []
  #reading = 0

  constructor(wire: Wire, recording: Recording, around: Context) {
    this.#wire = wire
    this.#recording = recording
    this.#context = around
  }

  sent(sent: Sent): void {
    const { requestId, redirectResponse, redirectHasExtraInfo } = sent
    const { method, url } = sent.request
    if (/^(?:data|blob):/.test(url)) return
    const before = this.#flights.get(requestId)
    if (before !== undefined && redirectResponse !== undefined) {
      const { hop } = before
      hop.response = redirectResponse
      hop.hasExtras = redirectHasExtraInfo
      hop.encodedBytes = redirectResponse.encodedDataLength
      void this.#over(hop, { overAt: sent.timestamp, redirectedTo: addressOf(url) })
    }
    const startedAt = sent.wallTime * 1_000
    const hop: Hop = { sent, startedAt, hasExtras: false, isCached: false, decodedBytes: 0, encodedBytes: 0 }
    if (before === undefined) this.#follow(requestId, { hop, isEnding: false })
    else before.hop = hop
    const { tab } = this.#context
    this.#recording.setPending(this.#key(requestId), { method, url: addressOf(url), type: typeOf(sent), startedAt, tab })
  }

  sentExtra({ requestId, headers }: EventOf<'Network.requestWillBeSentExtraInfo'>): void {
    const extras = this.#extrasOf(requestId)
    extras.sent.push(headers)
    extras.wake?.()
  }

  gotExtra({ requestId, headers }: EventOf<'Network.responseReceivedExtraInfo'>): void {
    const extras = this.#extrasOf(requestId)
    extras.got.push(headers)
    extras.wake?.()
  }

  cached({ requestId }: EventOf<'Network.requestServedFromCache'>): void {
    const hop = this.#flights.get(requestId)?.hop
    if (hop !== undefined) hop.isCached = true
  }

  received({ requestId, response, hasExtraInfo, timestamp }: EventOf<'Network.responseReceived'>, session: string): void {
    const flight = this.#flights.get(requestId)
    if (flight === undefined) return
    flight.hop.response = response
    flight.hop.hasExtras = hasExtraInfo
    if (endless.test(response.mimeType)) return
    flight.unread = setTimeout(() => this.#end(requestId, { overAt: timestamp, session, isUnread: true }), unreadMs)
    flight.unread.unref()
  }

  data({ requestId, dataLength, encodedDataLength }: EventOf<'Network.dataReceived'>): void {
    const flight = this.#flights.get(requestId)
    if (flight === undefined) return
    // The first chunk arrives even if nobody reads it; a second one means that somebody does.
    if (flight.hop.decodedBytes > 0) clearTimeout(flight.unread)
    flight.hop.decodedBytes += dataLength
    flight.hop.encodedBytes += encodedDataLength
  }

  finished({ requestId, timestamp, encodedDataLength }: EventOf<'Network.loadingFinished'>, session: string): void {
    const hop = this.#flights.get(requestId)?.hop
    if (hop !== undefined) hop.encodedBytes = Math.max(hop.encodedBytes, encodedDataLength)
    this.#end(requestId, { overAt: timestamp, session })
  }

  failed(event: EventOf<'Network.loadingFailed'>, session: string): void {
    const { requestId, timestamp, errorText, canceled, blockedReason, corsErrorStatus } = event
    const hop = this.#flights.get(requestId)?.hop
    // A stream that the page read to the end is also reported as canceled.
    if (canceled === true && hop !== undefined && isComplete(hop)) {
      this.#end(requestId, { overAt: timestamp, session })
      return
    }
    const given = hop !== undefined && hop.decodedBytes > 0 ? 'canceled, or read to its end as a stream' : 'canceled'
    const why = corsErrorStatus?.corsError ?? blockedReason ?? (canceled === true ? given : undefined)
    const failure = [errorText === '' ? 'failed' : errorText, ...(why === undefined ? [] : [`(${why})`])].join(' ')
    this.#end(requestId, { overAt: timestamp, failure: shortened(failure, 500) })
  }

  /** The page was left; its pending requests will not complete. */
  left(loader: string): void {
    for (const [id, { hop }] of this.#flights) {
      const { loaderId, type, requestId } = hop.sent
      // Beacons outlive their page, and requests of the new page already exist.
      if (loaderId !== loader && requestId !== loader && type !== 'Ping')
        this.#lose(id, hop, 'net::ERR_ABORTED (the page was left)')
    }
  }

  /** The tab is closed. */
  gone(why: string): void {
    for (const [id, { hop }] of this.#flights) this.#lose(id, hop, `net::ERR_ABORTED (${why})`)
  }

  #follow(id: string, flight: Flight): void {
    this.#flights.set(id, flight)
    if (this.#flights.size <= maxInFlight) return
    const why = `unknown (more than ${maxInFlight} requests were under way, so this one was not followed to its end)`
    for (const [oldest, { hop, isEnding }] of this.#flights) {
      if (isEnding) continue
      this.#lose(oldest, hop, why)
      return
    }
  }

  #extrasOf(id: string): Extras {
    const known = this.#extras.get(id)
    if (known !== undefined) return known
    const extras: Extras = { sent: [], got: [], taken: 0 }
    this.#extras.set(id, extras)
    // Extra info after the completion of its request is never used.
    for (const oldest of this.#extras.keys()) {
      if (this.#extras.size <= maxInFlight) break
      this.#extras.delete(oldest)
    }
    return extras
  }

  /** Ends a request that gets no further events. */
  #lose(id: string, { sent, startedAt }: Hop, failure: string): void {
    this.#end(id, { overAt: sent.timestamp + (this.#context.now() - startedAt) / 1_000, failure })
  }

  #end(id: string, end: End): void {
    const flight = this.#flights.get(id)
    if (flight === undefined || flight.isEnding) return
    flight.isEnding = true
    clearTimeout(flight.unread)
    void this.#over(flight.hop, end).finally(() => {
      this.#flights.delete(id)
      this.#extras.delete(id)
      this.#recording.setPending(this.#key(id), undefined)
    })
  }

  /** Waits for the remaining data of a hop and records it. */
  async #over(hop: Hop, end: End): Promise<void> {
    const { tab, counted } = this.#context
    const [headers, body] = await Promise.all([this.#headers(hop), this.#body(hop, end)])
    const record = recordOf(hop, end, { headers, body })
    counted(record.transferred)
    this.#recording.add('network', { ...record, tab })
  }

  /** Returns the actual headers including cookies, or those of the renderer if they do not arrive in time. */
  async #headers({ sent, response, hasExtras }: Hop): Promise<RealHeaders> {
    const extras = this.#extras.get(sent.requestId) ?? (hasExtras ? this.#extrasOf(sent.requestId) : undefined)
    if (extras === undefined || (response !== undefined && !hasExtras)) return {}
    const index = extras.taken
    extras.taken += 1
    const isHere = (): boolean => extras.sent.length > index && extras.got.length > index
    if (hasExtras && !isHere()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, extrasMs)
        const { wake } = extras
        extras.wake = () => {
          wake?.()
          if (!isHere()) return
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return { sent: extras.sent[index], got: extras.got[index] }
  }

  async #body(hop: Hop, { session, isUnread, redirectedTo }: End): Promise<Body | undefined> {
    const { sent, response, decodedBytes, encodedBytes } = hop
    if (redirectedTo !== undefined) return undefined
    if (response === undefined || sent.request.method === 'HEAD' || response.status === 204 || response.status === 304)
      return undefined
    const mimeType = shortened(response.mimeType, 200)
    const bytes = decodedBytes
    if (session === undefined) return omittedBody(mimeType, bytes, 'given up before its end')
    if (!isTextual(mimeType)) return omittedBody(mimeType, bytes, 'not text')
    const limit = `larger than ${readableBodyLimit / 1024 / 1024} MB`
    if (bytes > readableBodyLimit || encodedBytes > readableBodyLimit)
      return omittedBody(mimeType, bytes === 0 ? encodedBytes : bytes, limit)
    await this.#turn()
    try {
      const { requestId } = sent
      const { body, base64Encoded } = await this.#wire.send(
        'Network.getResponseBody',
        { requestId },
        { session, timeoutMs: bodyMs },
      )
      return truncateBody(base64Encoded ? Buffer.from(body, 'base64').toString() : body, mimeType, responseBodyLimit)
    } catch {
      return omittedBody(mimeType, bytes, isUnread === true ? 'not read by the page' : 'no longer there when it was asked for')
    } finally {
      this.#reading -= 1
      this.#queue.shift()?.()
    }
  }

  /** Limits concurrent body reads. */
  async #turn(): Promise<void> {
    if (this.#reading >= maxConcurrentReads) await new Promise<void>((resolve) => this.#queue.push(resolve))
    this.#reading += 1
  }

  #key(requestId: string): string {
    return `${this.#context.tab}/${requestId}`
  }
}

interface RealHeaders {
  readonly sent?: Headers | undefined
  readonly got?: Headers | undefined
}

interface Parts {
  readonly headers: RealHeaders
  readonly body: Body | undefined
}

function recordOf(
  hop: Hop,
  { overAt, failure, redirectedTo }: End,
  { headers, body }: Parts,
): Omit<NetworkRequest, 'seq' | 'tab'> {
  const { sent, response, startedAt } = hop
  const requestHeaders = headersOf(headers.sent ?? sent.request.headers)
  const requestBody = sentBodyOf(sent, requestHeaders)
  const fromCache = hop.isCached || (response !== undefined && isFromCache(response))
  const over = Math.max(overAt, sent.timestamp)
  return {
    at: startedAt + (over - sent.timestamp) * 1_000,
    method: shortened(sent.request.method, 50),
    url: addressOf(sent.request.url + (sent.request.urlFragment ?? '')),
    type: typeOf(sent),
    requestHeaders,
    ...(requestBody && { requestBody }),
    status: response?.status ?? 0,
    statusText: shortened(response?.statusText ?? '', 200),
    protocol: shortened(response?.protocol ?? '', 50),
    responseHeaders: headersOf(headers.got ?? response?.headers ?? {}),
    ...(body && { responseBody: body }),
    ...(response?.remoteIPAddress !== undefined && { remoteAddress: `${response.remoteIPAddress}:${response.remotePort ?? 0}` }),
    fromCache,
    ...(failure !== undefined && { failure }),
    ...(redirectedTo !== undefined && { redirectedTo }),
    startedAt,
    timings: timingsOf({ askedAt: sent.timestamp, overAt: over, timing: response?.timing }),
    transferred: fromCache ? 0 : Math.max(0, Math.round(hop.encodedBytes)),
    pageUrl: addressOf(sent.documentURL),
  }
}

function isComplete({ response, decodedBytes }: Hop): boolean {
  const headers = headersOf(response?.headers ?? {})
  return headerOf(headers, 'content-encoding') === undefined && headerOf(headers, 'content-length') === String(decodedBytes)
}

function typeOf({ type = 'Other' }: Sent): string {
  return type.toLowerCase()
}

function isFromCache({ fromDiskCache, fromPrefetchCache, fromServiceWorker }: Response): boolean {
  return fromDiskCache === true || fromPrefetchCache === true || fromServiceWorker === true
}

/** Splits headers: the browser joins equal names with line feeds. */
function headersOf(headers: Headers): readonly Header[] {
  return Object.entries(headers)
    .flatMap(([name, values]) => values.split('\n').map((value) => ({ name, value })))
    .slice(0, maxHeaders)
    .map(({ name, value }) => ({ name: shortened(name, 200), value: shortened(value, maxHeaderLength) }))
}

function sentBodyOf({ request }: Sent, headers: readonly Header[]): Body | undefined {
  const { postData, hasPostData } = request
  if (postData === undefined && hasPostData !== true) return undefined
  const mimeType = headerOf(headers, 'content-type') ?? ''
  if (postData !== undefined) return truncateBody(postData, mimeType, requestBodyLimit)
  return omittedBody(mimeType, Number(headerOf(headers, 'content-length') ?? 0) || 0, 'too large, or a file')
}

function headerOf(headers: readonly Header[], wanted: string): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value
}
