import type { Recording } from '../recording/recording.ts'
import type { CapturedEvent, EventOf } from './protocol.ts'
import { Tab } from './tab.ts'
import { shortened } from './text.ts'
import type { EventSummary, Tap, Wire } from './wire/wire.ts'

type TargetInfo = EventOf<'Target.attachedToTarget'>['targetInfo']

interface TargetsOptions {
  readonly now: () => number
  /** Called after each change of the tabs, their URLs, or the active tab. */
  readonly changed: () => void
}

const maxTitleLength = 500
// A requested new tab opens at once.
const openedMs = 2_000
const refreshMs = 250
// These belong to the tab that contains them.
const parts: ReadonlySet<string> = new Set(['iframe', 'worker'])

/** Tracks every tab of a browser and dispatches events to it. */
export class Targets implements Tap {
  readonly tabs = new Map<string, Tab>()
  readonly #wire: Wire
  readonly #recording: Recording
  readonly #options: TargetsOptions
  readonly #sessions = new Map<string, Tab>()
  /** Captured targets and their session; further sessions are for single commands. */
  readonly #captured = new Map<string, string>()
  #refreshing: NodeJS.Timeout | undefined
  #count = 0
  #current: Tab | undefined
  #asked = { cause: '', at: Number.NEGATIVE_INFINITY }

  constructor(wire: Wire, recording: Recording, options: TargetsOptions) {
    this.#wire = wire
    this.#recording = recording
    this.#options = options
  }

  /** Most recently active tab; if it is closed, the newest. */
  get current(): Tab | undefined {
    if (this.#current !== undefined && this.tabs.get(this.#current.id) === this.#current) return this.#current
    return [...this.tabs.values()].at(-1)
  }

  set current(tab: Tab | undefined) {
    if (this.#current === tab) return
    this.#current = tab
    this.#options.changed()
  }

  admits(event: EventSummary): boolean {
    return this.#sessions.get(event.session)?.admits(event) ?? true
  }

  oversized(event: EventSummary): void {
    this.#sessions.get(event.session)?.oversized(event)
  }

  event(method: string, params: unknown, session: string): boolean {
    try {
      if (method.startsWith('Target.')) return this.#target(method, params, session)
      const handle = this.#sessions.get(session)?.on[method as CapturedEvent] as
        | ((event: unknown, session: string) => boolean | void)
        | undefined
      return handle?.(params, session) ?? true
    } catch {
      // A malformed event still goes to Playwright.
      return true
    }
  }

  /** Schedules a refresh of titles: the browser does not announce changes. */
  refresh(): void {
    if (this.#refreshing !== undefined) return
    this.#refreshing = setTimeout(() => {
      this.#refreshing = undefined
      this.#readTitles().catch(() => undefined)
    }, refreshMs)
    this.#refreshing.unref()
  }

  /** The browser is gone. */
  end(): void {
    clearTimeout(this.#refreshing)
    for (const tab of [...this.tabs.values()]) this.#forget(tab)
  }

  #target(method: string, params: unknown, session: string): boolean {
    switch (method) {
      case 'Target.attachedToTarget':
        this.#attached(params as EventOf<'Target.attachedToTarget'>, session)
        return true
      case 'Target.detachedFromTarget':
        this.#detached((params as EventOf<'Target.detachedFromTarget'>).sessionId)
        return true
      default:
        return true
    }
  }

  #attached({ sessionId, targetInfo }: EventOf<'Target.attachedToTarget'>, parent: string): void {
    const { type, targetId, subtype } = targetInfo
    const within = this.#sessions.get(parent)
    const isPart = within !== undefined && parts.has(type)
    // A prerendered page is not a tab.
    const isTab = type === 'page' && (subtype ?? '') === ''
    if (this.#captured.has(targetId) || (!isPart && !isTab)) return
    this.#captured.set(targetId, sessionId)
    if (isPart) {
      this.#sessions.set(sessionId, within)
      if (type === 'iframe') within.enter(sessionId)
    } else this.#begin(sessionId, targetInfo)
  }

  #begin(session: string, { targetId, url, title, openerId }: TargetInfo): void {
    const { now } = this.#options
    this.#count += 1
    const tab: Tab = new Tab(this.#wire, this.#recording, {
      id: `tab-${this.#count}`,
      target: targetId,
      session,
      url,
      title: shortened(title, maxTitleLength),
      now,
      asked: (cause) => {
        this.#asked = { cause, at: now() }
      },
      used: () => {
        this.current = tab
      },
      loaded: () => this.refresh(),
    })
    if (now() - this.#asked.at < openedMs) tab.causes.inherit(this.#asked.cause)
    else if (openerId !== undefined) tab.causes.inherit('link')
    this.#asked = { cause: '', at: Number.NEGATIVE_INFINITY }
    this.tabs.set(tab.id, tab)
    this.#sessions.set(session, tab)
    tab.enter(session)
    this.current = tab
    this.#options.changed()
  }

  #detached(session: string): void {
    const tab = this.#sessions.get(session)
    if (tab === undefined) return
    this.#release(session)
    if (tab.session === session) this.#forget(tab)
    else tab.leave(session)
  }

  #forget(tab: Tab): void {
    this.tabs.delete(tab.id)
    for (const [session, each] of this.#sessions) if (each === tab) this.#release(session)
    tab.closed()
    this.#options.changed()
  }

  #release(session: string): void {
    this.#sessions.delete(session)
    for (const [target, each] of this.#captured) if (each === session) this.#captured.delete(target)
  }

  async #readTitles(): Promise<void> {
    const { targetInfos } = await this.#wire.send('Target.getTargets', {})
    const titles = new Map(targetInfos.map(({ targetId, title }) => [targetId, shortened(title, maxTitleLength)]))
    let isOther = false
    for (const tab of this.tabs.values()) {
      const title = titles.get(tab.target) ?? tab.title
      isOther ||= title !== tab.title
      tab.title = title
    }
    if (isOther) this.#options.changed()
  }
}
