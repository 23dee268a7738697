import { type Browser, type BrowserContext, type Page, chromium as playwright } from 'playwright-core'
import { type Tab, TabUnavailable } from '../capture/tab.ts'
import { Targets } from '../capture/targets.ts'
import type { Recording } from '../recording/recording.ts'
import type { Chromium } from './chromium.ts'

export { TabUnavailable } from '../capture/tab.ts'

/** Open tab. URL and title are untrusted. */
export interface TabInfo {
  readonly id: string
  readonly url: string
  readonly title: string
  readonly isCurrent: boolean
  readonly hasCrashed: boolean
}

/** Tab to work with. */
export interface WatchedTab {
  readonly id: string
  readonly page: Page
  /** Aborted with a `TabUnavailable` when the tab is closed, crashes, or the browser ends. */
  readonly signal: AbortSignal
  /** Returns the result of the work; rejects at once if the tab becomes unavailable. */
  within<T>(work: (page: Page) => Promise<T>): Promise<T>
}

export interface WatchOptions {
  readonly now?: () => number
}

const connectMs = 30_000
const openMs = 30_000
const errorPageMs = 1_000
const isBlank = /^(?:about:blank|chrome:\/\/(?:newtab|new-tab-page)\/?|)$/

/** Records everything that happens in a browser from now on. */
export async function watchBrowser(
  chromium: Chromium,
  recording: Recording,
  { now = Date.now }: WatchOptions = {},
): Promise<WatchedBrowser> {
  const listeners = new Set<() => void>()
  const changed = (): void => {
    for (const listener of listeners) listener()
  }
  const targets = new Targets(chromium.wire, recording, { now, changed })
  // Before the connection, so that no page event is missed.
  chromium.wire.tap(targets)
  const browser = await playwright.connectOverCDP(chromium.wire.transport, {
    // Windows of the user stay as they are; headless tabs all behave as active.
    noDefaults: !(chromium.isOurs && chromium.isHeadless),
    timeout: connectMs,
  })
  const watched = new WatchedBrowser(chromium, browser, { targets, listeners })
  await watched.settle()
  return watched
}

/** Watched browser with its tabs. */
export class WatchedBrowser implements AsyncDisposable {
  /** Resolves with the reason when the browser is gone. */
  readonly ended: Promise<string>
  readonly #chromium: Chromium
  readonly #browser: Browser
  readonly #context: BrowserContext
  readonly #targets: Targets
  readonly #listeners: Set<() => void>
  readonly #pages = new Map<string, Page>()
  #reason: string | undefined

  /** Use `watchBrowser`. */
  constructor(
    chromium: Chromium,
    browser: Browser,
    { targets, listeners }: { readonly targets: Targets; readonly listeners: Set<() => void> },
  ) {
    const [context] = browser.contexts()
    if (context === undefined) throw new Error('The browser has no window to watch.')
    this.#chromium = chromium
    this.#browser = browser
    this.#context = context
    this.#targets = targets
    this.#listeners = listeners
    this.ended = chromium.wire.closed.then((reason) => {
      this.#reason = reason
      targets.end()
      return reason
    })
    // A dialog belongs to the user; without a window there is none, and Playwright dismisses it.
    if (!chromium.isHeadless) context.on('dialog', () => undefined)
    context.on('page', (page) => void this.#meet(page))
  }

  /** Calls `changed` after each change of the tabs, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Detects the tabs that are already open. */
  async settle(): Promise<void> {
    this.#targets.refresh()
    await Promise.all(this.#context.pages().map((page) => this.#meet(page)))
  }

  /** Lists the open tabs. Titles may be slightly outdated. */
  tabs(): readonly TabInfo[] {
    this.#targets.refresh()
    const { current } = this.#targets
    return [...this.#targets.tabs.values()].map((tab) => ({
      id: tab.id,
      url: tab.url,
      title: tab.title,
      isCurrent: tab === current,
      hasCrashed: tab.state === 'crashed',
    }))
  }

  /** Returns a tab by id, or the active one; throws a `TabUnavailable`. */
  tab(id?: string): WatchedTab {
    const tab = this.#find(id)
    const page = this.#pages.get(tab.target)
    if (page === undefined) throw new TabUnavailable('busy', `${tab.id} is still opening. Try again.`)
    const { signal } = tab
    return { id: tab.id, page, signal, within: (work) => untilUnavailable(signal, work(page)) }
  }

  /**
   * Opens a URL: in the active tab, or in a new one in a browser of the user. Waits until the page has loaded. Not recorded as a
   * user action.
   */
  async open(url: string, { timeoutMs = openMs }: { readonly timeoutMs?: number } = {}): Promise<WatchedTab> {
    this.#requireBrowser()
    const { current } = this.#targets
    const isFree = current?.state === 'open' && (this.#chromium.isOurs || isBlank.test(current.url))
    const tab = isFree ? this.tab(current.id) : await this.#newTab()
    const goThere = async (): Promise<void> => {
      try {
        await tab.within((page) => page.goto(url, { waitUntil: 'domcontentloaded', timeout: timeoutMs }))
      } catch (error) {
        // The error page of the browser would interfere with the next navigation.
        if (!(error instanceof TabUnavailable))
          await tab.page.waitForURL(/^chrome-error:/, { waitUntil: 'commit', timeout: errorPageMs }).catch(() => undefined)
        throw error
      }
    }
    try {
      await this.#find(tab.id).opening(url, goThere)
    } catch (error) {
      if (error instanceof TabUnavailable) throw error
      const [why = ''] = (error instanceof Error ? error.message : String(error)).replace(/^page\.goto: /, '').split('\n')
      throw new Error(`${url} could not be opened: ${why} Is its server running, and is the URL correct?`, { cause: error })
    }
    return tab
  }

  /** Measures the current performance of a tab and records it. */
  async snapshot(id?: string): Promise<void> {
    const tab = this.#find(id)
    try {
      await untilUnavailable(tab.signal, tab.measure())
    } catch (error) {
      if (error instanceof TabUnavailable) throw error
      throw new TabUnavailable(
        'busy',
        `${tab.id} does not answer: its page is busy, or on its way to another one. Try again in a moment.`,
        { cause: error },
      )
    }
  }

  /** Ends a launched browser, or disconnects from an attached one. */
  async close(): Promise<void> {
    await this.#chromium.close()
    await this.ended
    // Playwright has a temporary folder to remove.
    await this.#browser.close().catch(() => undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #requireBrowser(): void {
    if (this.#reason === undefined) return
    throw new TabUnavailable('ended', `The browser is gone: ${this.#reason}. Restart unfold-browser.`)
  }

  #find(id: string | undefined): Tab {
    this.#requireBrowser()
    const tab = id === undefined ? this.#targets.current : this.#targets.tabs.get(id)
    if (tab?.state === 'open') return tab
    if (tab?.signal.reason instanceof TabUnavailable) throw tab.signal.reason
    const ids = [...this.#targets.tabs.keys()]
    if (id === undefined || ids.length === 0)
      throw new TabUnavailable('none', 'No tab is open. Open a page in the watched browser.')
    throw new TabUnavailable('unknown', `Unknown tab. Open tabs: ${ids.join(', ')}.`)
  }

  async #newTab(): Promise<WatchedTab> {
    const page = await this.#context.newPage()
    await this.#meet(page)
    const [target] = [...this.#pages].find(([, each]) => each === page) ?? []
    const tab = [...this.#targets.tabs.values()].find((each) => each.target === target)
    return this.tab(tab?.id)
  }

  /** Finds the tab of a Playwright page. */
  async #meet(page: Page): Promise<void> {
    if ([...this.#pages.values()].includes(page)) return
    try {
      const session = await this.#context.newCDPSession(page)
      const { targetInfo } = await session.send('Target.getTargetInfo')
      this.#pages.set(targetInfo.targetId, page)
      page.once('close', () => this.#pages.delete(targetInfo.targetId))
      await session.detach()
    } catch {
      // Closed before it responded.
    }
  }
}

/** Awaits `work`; rejects with the reason when the tab becomes unavailable. */
async function untilUnavailable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // Avoids an unhandled rejection after the tab is gone.
  work.catch(() => undefined)
  if (signal.aborted) throw signal.reason
  let gone = (): void => undefined
  const lost = new Promise<never>((_resolve, reject) => {
    gone = () => reject(signal.reason)
  })
  signal.addEventListener('abort', gone, { once: true })
  try {
    return await Promise.race([work, lost])
  } catch (error) {
    // Playwright may notice first, with its own error.
    if (signal.aborted) throw signal.reason
    throw error
  } finally {
    signal.removeEventListener('abort', gone)
  }
}
