import type { Recording } from '../recording/recording.ts'
import type { EventOf, CapturedEvent } from './protocol.ts'
import { Tab } from './tab.ts'
import { shortened } from './text.ts'
import type { EventSummary, Tap, Wire } from './wire/wire.ts'

type TargetInfo = EventOf<'Target.attachedToTarget'>['targetInfo']

interface TargetsOptions {
  readonly now: () => number
  /** Told after each change of which tabs there are, where they are, or which one is in front. */
  readonly changed: () => void
}

const maxTitleLength = 500
// A new tab comes at once when something in a page asks for it.
const openedMs = 2_000
const refreshMs = 250
// They belong to the tab they are in.
const parts: ReadonlySet<string> = new Set(['iframe', 'worker'])

/** Follows every tab of a browser, and hands each event to the tab it belongs to. */
export class Targets implements Tap {
  readonly tabs = new Map<string, Tab>()
  readonly #wire: Wire
  readonly #recording: Recording
  readonly #options: TargetsOptions
  readonly #sessions = new Map<string, Tab>()
  /** The targets that are captured, and the session that does it: further ones are for single questions. */
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

  /** The tab that was last in front, gone to or used; the newest, when that one is closed. */
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
      // An event that is not as the protocol says is not ours to judge: Playwright gets it all the same.
      return true
    }
  }

  /** Asks for the titles soon: the browser does not say when they change. */
  refresh(): void {
    if (this.#refreshing !== undefined) return
    this.#refreshing = setTimeout(() => {
      this.#refreshing = undefined
      this.#readTitles().catch(() => undefined)
    }, refreshMs)
    this.#refreshing.unref()
  }

  /** The browser is gone, and all its tabs. */
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
    // A page that is only prepared, and not shown yet, is no tab.
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
