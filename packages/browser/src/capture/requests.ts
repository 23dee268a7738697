import type { Recording } from '../recording/recording.ts'
import type { Body, Header, NetworkRequest } from '../records/records.ts'
import { addressOf } from './address.ts'
import { truncateBody, isTextual, omittedBody, readableBodyLimit, requestBodyLimit, responseBodyLimit } from './bodies.ts'
import type { EventOf } from './protocol.ts'
import { shortened } from './text.ts'
import { timingsOf } from './timings.ts'
import type { Wire } from './wire/wire.ts'

type Sent = EventOf<'Network.requestWillBeSent'>
type Response = EventOf<'Network.responseReceived'>['response']
type Headers = Sent['request']['headers']

const maxInFlight = 2_000
const maxHeaders = 200
const maxHeaderLength = 4 * 1024
const bodyMs = 5_000
// A browser does not call a request finished while its page leaves the answer unread, which may be for ever.
const unreadMs = 2_000
const endless = /^(?:text\/event-stream|application\/(?:x-)?ndjson|multipart\/x-mixed-replace)/i
// What the network process tells of a request may come a little after what the page's process tells.
const extrasMs = 250
// Asking for all bodies of a page at once would hold up everything else that is asked of it.
const maxConcurrentReads = 6

/** One request on its way: a redirect ends it and begins the next. */
interface Hop {
  readonly sent: Sent
  readonly startedAt: number
  response?: Response
  /** Whether the network process tells of it as well. */
  hasExtras: boolean
  isCached: boolean
  decodedBytes: number
  encodedBytes: number
}

/** What really went over the network, as the network process tells it: one for each hop that did, in order. */
interface Extras {
  readonly sent: Headers[]
  readonly got: Headers[]
  /** How many of these belong to hops that are over. */
  taken: number
  /** Runs when more has come. */
  wake?: () => void
}

/** All hops that the browser gives the same id. */
interface Flight {
  hop: Hop
  isEnding: boolean
  unread?: NodeJS.Timeout
}

interface End {
  readonly overAt: number
  readonly failure?: string
  readonly redirectedTo?: string
  /** Where the body can be asked for. */
  readonly session?: string
  /** The page has not read the answer. */
  readonly isUnread?: true
}

interface Context {
  readonly tab: string
  readonly now: () => number
  /** Told for each request that is over. */
  readonly counted: (bytes: number) => void
}

/** The requests of a tab: each is recorded when it is over. */
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
    // The first part comes even when nobody reads it; with a second one somebody does, and will see its end.
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
    // A stream that a page has read to its end counts as canceled too.
    if (canceled === true && hop !== undefined && isComplete(hop)) {
      this.#end(requestId, { overAt: timestamp, session })
      return
    }
    const given = hop !== undefined && hop.decodedBytes > 0 ? 'canceled, or read to its end as a stream' : 'canceled'
    const why = corsErrorStatus?.corsError ?? blockedReason ?? (canceled === true ? given : undefined)
    const failure = [errorText === '' ? 'failed' : errorText, ...(why === undefined ? [] : [`(${why})`])].join(' ')
    this.#end(requestId, { overAt: timestamp, failure: shortened(failure, 500) })
  }

  /** The page was left for another one: what it still waited for will not come. */
  left(loader: string): void {
    for (const [id, { hop }] of this.#flights) {
      const { loaderId, type, requestId } = hop.sent
      // A beacon outlives its page, and the new page's own requests belong to it already.
      if (loaderId !== loader && requestId !== loader && type !== 'Ping')
        this.#lose(id, hop, 'net::ERR_ABORTED (the page was left)')
    }
  }

  /** The tab is gone: nothing of it is pending any more. */
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
    // Some are told of after their request is over, and then nobody takes them.
    for (const oldest of this.#extras.keys()) {
      if (this.#extras.size <= maxInFlight) break
      this.#extras.delete(oldest)
    }
    return extras
  }

  /** Ends a request that the browser says nothing more of. */
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

  /** Waits for what is still to come of the hop, and records it. */
  async #over(hop: Hop, end: End): Promise<void> {
    const { tab, counted } = this.#context
    const [headers, body] = await Promise.all([this.#headers(hop), this.#body(hop, end)])
    const record = recordOf(hop, end, { headers, body })
    counted(record.transferred)
    this.#recording.add('network', { ...record, tab })
  }

  /** The headers as they went over the network, cookies and all; fewer when that is not told in time. */
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

  /** Waits until there are not too many bodies asked for. */
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

/** Whether all that was announced has come. */
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

/** Headers one by one: the browser joins those of the same name with line ends. */
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
