import type { Recording } from '../recording/recording.ts'
import type { UserAction } from '../records/records.ts'
import { binding, injected, measuring, measuringOnLeave, world } from './injected.ts'
import { Logs } from './logs.ts'
import { causeElsewhere, NavigationCauses } from './navigations.ts'
import type { CapturedEvent, EventOf } from './protocol.ts'
import { RateLimiter } from './rate-limiter.ts'
import { type Report, reportOf, type Vitals } from './reports.ts'
import { Requests } from './requests.ts'
import { frameRate, Sockets } from './sockets.ts'
import { shortened } from './text.ts'
import { addressOf } from './url.ts'
import type { EventSummary, Wire } from './wire/wire.ts'

/** The tab cannot be used; the message says why. */
export class TabUnavailable extends Error {
  override readonly name = 'TabUnavailable'
  readonly reason: 'none' | 'unknown' | 'crashed' | 'closed' | 'busy' | 'ended'

  constructor(reason: TabUnavailable['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

// More than anyone can read; a default buffer would be full within a second. Errors have a separate limit.
const lineRate = { count: 1_000, bytes: 8 * 1024 * 1024 }
const errorRate = { count: 200, bytes: 4 * 1024 * 1024 }
const reportRate = { count: 100, bytes: 1024 * 1024 }
const dropNoteMs = 1_000
const releaseAfter = 1_000
const measureMs = 3_000
// URL of a tab before its first navigation.
const blank = /^(?:about:blank|chrome:\/\/(?:newtab|new-tab-page)\/?|:?)$/

/** State of the current document. */
interface Document {
  requests: number
  transferred: number
  /** Last recorded performance snapshot, and the current one. */
  last: string
  latest?: Vitals
}

interface TabOptions {
  readonly id: string
  readonly target: string
  readonly session: string
  readonly url: string
  readonly title: string
  readonly now: () => number
  /** This tab requested a new tab. */
  readonly asked: (cause: string) => void
  /** The tab was activated or used. */
  readonly used: () => void
  /** The page has loaded, or its title has changed. */
  readonly loaded: () => void
}

/** Records everything in one tab, including frames and workers. */
export class Tab {
  readonly id: string
  readonly target: string
  readonly session: string
  url: string
  title: string
  /** Aborted with a `TabUnavailable` when the tab is closed or crashes. */
  readonly signal: AbortSignal
  readonly causes = new NavigationCauses()
  readonly #wire: Wire
  readonly #recording: Recording
  readonly #options: TabOptions
  readonly #gone = new AbortController()
  readonly #logs: Logs
  readonly #requests: Requests
  readonly #sockets: Sockets
  readonly #lines: RateLimiter
  readonly #errors: RateLimiter
  readonly #reports: RateLimiter
  /** Execution contexts of the injected script, with their pages. */
  readonly #worlds = new Map<
    string,
    { readonly document: Document; readonly isMain: boolean; readonly context: number; readonly session: string }
  >()
  /** URL of our own pending navigation. */
  #destination: string | undefined
  #calls = 0
  #document: Document = { requests: 0, transferred: 0, last: '' }
  #noting: NodeJS.Timeout | undefined
  #frame: string

  constructor(wire: Wire, recording: Recording, options: TabOptions) {
    const { id, target, session, url, title, now } = options
    this.id = id
    this.target = target
    this.session = session
    this.url = url
    this.title = title
    this.signal = this.#gone.signal
    this.#wire = wire
    this.#recording = recording
    this.#options = options
    // The id of the main frame is the id of the tab.
    this.#frame = target
    this.#logs = new Logs(recording, id, now)
    this.#requests = new Requests(wire, recording, { tab: id, now, counted: (bytes) => this.#counted(bytes) })
    this.#sockets = new Sockets(recording, { tab: id, now, dropped: () => this.#noteDrops() })
    this.#lines = new RateLimiter(lineRate, now)
    this.#errors = new RateLimiter(errorRate, now)
    this.#reports = new RateLimiter(reportRate, now)
  }

  get state(): 'open' | 'crashed' | 'closed' {
    if (!this.signal.aborted) return 'open'
    return this.signal.reason instanceof TabUnavailable && this.signal.reason.reason === 'crashed' ? 'crashed' : 'closed'
  }

  /** Injects the script into current and future pages of a frame. */
  enter(session: string): void {
    const quietly = (sent: Promise<unknown>): void => void sent.catch(() => undefined)
    quietly(this.#wire.send('Page.enable', {}, { session }))
    quietly(this.#wire.send('Inspector.enable', undefined, { session }))
    quietly(this.#wire.send('Runtime.addBinding', { name: binding, executionContextName: world }, { session }))
    const script = { source: injected, worldName: world, runImmediately: true }
    quietly(this.#wire.send('Page.addScriptToEvaluateOnNewDocument', script, { session }))
  }

  /** Applies rate limits before an event is parsed. */
  admits({ method, type, bytes, session }: EventSummary): boolean {
    if (method === 'Runtime.consoleAPICalled') this.#release(session)
    const gate =
      method === 'Runtime.consoleAPICalled'
        ? type === 'error' || type === 'assert'
          ? this.#errors
          : this.#lines
        : method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded'
          ? this.#errors
          : undefined
    if (gate === undefined || gate.passes(bytes)) return true
    this.#noteDrops()
    return false
  }

  oversized({ method, bytes }: EventSummary): void {
    const what: { readonly [method: string]: string } = {
      'Runtime.consoleAPICalled': 'A console line',
      'Runtime.exceptionThrown': 'An exception',
      'Network.webSocketFrameReceived': 'A message received on a WebSocket',
      'Network.webSocketFrameSent': 'A message sent on a WebSocket',
    }
    const size = `${Math.round(bytes / 1024 / 1024)} MB`
    this.#logs.note(
      'warning',
      `${what[method] ?? `An event (${method})`} of ${size} was not recorded: it is too large.`,
      this.url,
    )
  }

  /** Handles an event; returns false if it is not for Playwright. */
  readonly on: { readonly [E in CapturedEvent]?: (event: EventOf<E>, session: string) => boolean | void } = {
    'Runtime.consoleAPICalled': (event) => this.#logs.consoleCalled(event, this.url),
    'Runtime.exceptionThrown': (event, session) => {
      if (!this.#isOurs(event.exceptionDetails.executionContextId, session)) this.#logs.exceptionThrown(event, this.url)
    },
    'Log.entryAdded': (event) => this.#logs.entryAdded(event, this.url),
    'Page.javascriptDialogOpening': ({ type, message }) =>
      this.#logs.note('info', `The page opened a dialog (${type}): ${shortened(message, 1_024)}`, this.url),
    'Network.requestWillBeSent': (event) => this.#requests.sent(event),
    'Network.requestWillBeSentExtraInfo': (event) => this.#requests.sentExtra(event),
    'Network.requestServedFromCache': (event) => this.#requests.cached(event),
    'Network.responseReceived': (event, session) => this.#requests.received(event, session),
    'Network.responseReceivedExtraInfo': (event) => this.#requests.gotExtra(event),
    'Network.dataReceived': (event) => {
      this.#requests.data(event)
      // Playwright ignores these, and a large download has thousands.
      return false
    },
    'Network.loadingFinished': (event, session) => this.#requests.finished(event, session),
    'Network.loadingFailed': (event, session) => this.#requests.failed(event, session),
    'Network.webSocketCreated': (event, session) => this.#sockets.created(event, session),
    'Network.webSocketHandshakeResponseReceived': (event) => this.#sockets.opened(event),
    'Network.webSocketFrameSent': (event) => this.#sockets.sent(event),
    'Network.webSocketFrameReceived': (event) => this.#sockets.received(event),
    'Network.webSocketFrameError': (event) => this.#sockets.failed(event),
    'Network.webSocketClosed': (event) => this.#sockets.closed(event),
    'Page.domContentEventFired': () => this.#options.loaded(),
    'Page.frameRequestedNavigation': (event) => {
      const elsewhere = causeElsewhere(event)
      if (elsewhere !== undefined) this.#options.asked(elsewhere)
      else if (event.frameId === this.#frame) this.causes.requested(event)
    },
    'Page.frameStartedNavigating': (event) => {
      if (event.frameId !== this.#frame) return
      this.causes.started(event)
      // Events of a page that was left are ignored.
      if (!/sameDocument/i.test(event.navigationType)) this.measure(measuringOnLeave).catch(() => undefined)
    },
    'Page.frameNavigated': ({ frame, type }, session) => {
      if (frame.parentId !== undefined || session !== this.session) return
      this.#frame = frame.id
      this.#navigated(frame.unreachableUrl ?? frame.url + (frame.urlFragment ?? ''), frame.loaderId)
      if (type === 'BackForwardCacheRestore') this.#options.used()
    },
    'Page.navigatedWithinDocument': ({ frameId, url, navigationType }, session) => {
      if (frameId !== this.#frame || session !== this.session) return
      const cause = this.causes.takeWithin(navigationType)
      const isSame = url === this.url
      this.url = url
      this.#options.loaded()
      if (!isSame) this.#went(url, cause, url === this.#destination)
    },
    'Runtime.executionContextCreated': ({ context }, session) => {
      if (context.name !== world) return
      const { frameId } = (context.auxData ?? {}) as { frameId?: string }
      const isMain = frameId === this.#frame && session === this.session
      this.#worlds.set(keyOf(context.id, session), { document: this.#document, isMain, context: context.id, session })
    },
    'Runtime.executionContextDestroyed': ({ executionContextId }, session) =>
      void this.#worlds.delete(keyOf(executionContextId, session)),
    'Runtime.executionContextsCleared': (_event, session) => this.#forgetWorlds(session),
    'Runtime.bindingCalled': ({ name, payload, executionContextId }, session) => {
      if (name !== binding) return true
      // The page can define a binding of this name too: only reports from the isolated world count.
      const from = this.#worlds.get(keyOf(executionContextId, session))
      const report = from !== undefined && this.#reports.passes(payload.length) ? reportOf(payload) : undefined
      if (from !== undefined && report !== undefined) this.#reported(report, from)
      return false
    },
    'Inspector.targetCrashed': (_event, session) => {
      if (session === this.session) this.crashed()
      return true
    },
  }

  /** A frame or worker is gone. */
  leave(session: string): void {
    this.#forgetWorlds(session)
    this.#sockets.left(session, 'the page was left')
  }

  crashed(): void {
    if (this.state !== 'open') return
    this.#logs.note('error', `The page crashed: ${shortened(this.url, 500)}`, this.url)
    this.#end(
      'crashed',
      `${this.id} has crashed at ${shortened(this.url, 200)}. Close it, and open the page in another tab of the watched browser.`,
    )
  }

  closed(): void {
    if (this.state === 'open') this.#end('closed', `${this.id} was closed. Open a page in the watched browser.`)
  }

  /** Runs a navigation of this server, which is not recorded as a user action. */
  async opening<T>(url: string, work: () => Promise<T>): Promise<T> {
    this.#destination = URL.canParse(url) ? new URL(url).href : url
    this.causes.forget()
    try {
      return await work()
    } finally {
      this.#destination = undefined
    }
  }

  /** Measures the current performance and records it. */
  async measure(how: typeof measuring | typeof measuringOnLeave = measuring): Promise<void> {
    const main = [...this.#worlds.values()].findLast(({ isMain }) => isMain)
    if (main === undefined) return
    const command = {
      expression: how,
      contextId: main.context,
      returnByValue: true,
      timeout: measureMs,
    }
    const { result } = await this.#wire.send('Runtime.evaluate', command, { session: main.session, timeoutMs: measureMs })
    const report = typeof result.value === 'string' ? reportOf(result.value) : undefined
    if (report?.kind === 'vitals') this.#measured(report, main.document)
  }

  #end(reason: 'crashed' | 'closed', message: string): void {
    clearTimeout(this.#noting)
    this.#left()
    const why = reason === 'crashed' ? 'the page crashed' : 'the tab was closed'
    this.#requests.gone(why)
    this.#sockets.left(undefined, why)
    this.#worlds.clear()
    this.#gone.abort(new TabUnavailable(reason, message))
  }

  #navigated(url: string, loader: string): void {
    const cause = this.causes.take()
    this.#left()
    this.url = url
    this.#document = { requests: 0, transferred: 0, last: '' }
    this.#requests.left(loader)
    this.#sockets.left(this.session, 'the page was left')
    if (blank.test(url)) return
    this.#options.used()
    // The server may redirect. Navigations requested by the page meanwhile are not ours.
    this.#went(url, cause, this.#destination !== undefined && (cause === 'typed' || cause === 'reload'))
  }

  #went(url: string, cause: string, isOurs: boolean): void {
    if (isOurs) this.#destination = undefined
    else this.#act({ action: 'navigation', at: this.#options.now(), url: addressOf(url), cause })
  }

  #reported(report: Report, from: { readonly document: Document; readonly isMain: boolean }): void {
    if (report.kind === 'vitals') {
      if (from.isMain && report.isSoFar === true) from.document.latest = report
      else if (from.isMain) this.#measured(report, from.document)
      return
    }
    this.#options.used()
    if (report.kind === 'focus') return
    const { kind: _, url, ...action } = report
    this.#act({ ...action, url: addressOf(url), ...(!from.isMain && { pageUrl: addressOf(this.url) }) })
  }

  #measured(report: Vitals, document: Document): void {
    const { kind: _kind, isSoFar: _isSoFar, url, ...vitals } = report
    delete document.latest
    const text = JSON.stringify(vitals)
    // An unchanged snapshot is not recorded again.
    if (text === document.last) return
    document.last = text
    const { requests, transferred } = document
    this.#recording.add('snapshots', {
      at: this.#options.now(),
      tab: this.id,
      url: addressOf(url),
      ...vitals,
      requests,
      transferred,
    })
  }

  /** Records the final performance of a page. */
  #left(): void {
    const { latest } = this.#document
    if (latest !== undefined) this.#measured(latest, this.#document)
  }

  #act(action: Omit<UserAction, 'seq' | 'tab'>): void {
    this.#recording.add('actions', { ...action, tab: this.id })
  }

  #counted(bytes: number): void {
    this.#document.requests += 1
    this.#document.transferred += bytes
  }

  #isOurs(context: number | undefined, session: string): boolean {
    return context !== undefined && this.#worlds.has(keyOf(context, session))
  }

  #forgetWorlds(session: string): void {
    for (const [key, each] of this.#worlds) if (each.session === session) this.#worlds.delete(key)
  }

  /** Releases logged objects regularly: the browser keeps every logged object alive for the session. */
  #release(session: string): void {
    this.#calls += 1
    if (this.#calls % releaseAfter !== 0) return
    this.#wire.send('Runtime.releaseObjectGroup', { objectGroup: 'console' }, { session }).catch(() => undefined)
  }

  /** Schedules one log entry with the number of dropped events. */
  #noteDrops(): void {
    if (this.#noting !== undefined) return
    this.#noting = setTimeout(() => {
      this.#noting = undefined
      const lines = this.#lines.takeShut()
      const errors = this.#errors.takeShut()
      const frames = this.#sockets.takeDropped()
      const note = (count: number, what: string, max: number): void =>
        this.#logs.note('warning', `${count} more ${what} were dropped: the page made more than ${max} in a second.`, this.url)
      if (lines > 0) note(lines, 'console lines', lineRate.count)
      if (errors > 0) note(errors, 'errors', errorRate.count)
      if (frames > 0) note(frames, 'WebSocket messages', frameRate.count)
    }, dropNoteMs)
    this.#noting.unref()
  }
}

function keyOf(context: number, session: string): string {
  return `${session}/${context}`
}
