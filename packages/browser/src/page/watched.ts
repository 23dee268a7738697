import { type Browser, type BrowserContext, type Page, chromium as playwright } from 'playwright-core'
import { type Tab, TabUnavailable } from '../capture/tab.ts'
import { Targets } from '../capture/targets.ts'
import type { Recording } from '../recording/recording.ts'
import type { Chromium } from './chromium.ts'

export { TabUnavailable } from '../capture/tab.ts'

/** A tab as it stands. Its address and title are the page's words. */
export interface TabInfo {
  readonly id: string
  readonly url: string
  readonly title: string
  readonly isCurrent: boolean
  readonly hasCrashed: boolean
}

/** A tab to work with. */
export interface WatchedTab {
  readonly id: string
  readonly page: Page
  /** Aborted with a `TabUnavailable` when the tab is closed, crashes, or the browser ends. */
  readonly signal: AbortSignal
  /** The work's result; rejects at once, with what happened in words, when the tab is gone before it is done. */
  within<T>(work: (page: Page) => Promise<T>): Promise<T>
}

export interface WatchOptions {
  readonly now?: () => number
}

const connectMs = 30_000
const openMs = 30_000
const errorPageMs = 1_000
const isBlank = /^(?:about:blank|chrome:\/\/(?:newtab|new-tab-page)\/?|)$/

/** Watches everything that happens in a browser from now on, and writes it to the recording. */
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
  // Before anybody is connected: so no page can do anything that is not seen.
  chromium.wire.tap(targets)
  const browser = await playwright.connectOverCDP(chromium.wire.transport, {
    // Somebody's own windows stay as they are; tabs without windows are all made to believe that they are in front.
    noDefaults: !(chromium.isOurs && chromium.isHeadless),
    timeout: connectMs,
  })
  const watched = new WatchedBrowser(chromium, browser, { targets, listeners })
  await watched.settle()
  return watched
}

/** A browser that is watched: its tabs, and the one in front. */
export class WatchedBrowser implements AsyncDisposable {
  /** Fulfilled with the reason when the browser is gone, whoever ended it. */
  readonly ended: Promise<string>
  readonly #chromium: Chromium
  readonly #browser: Browser
  readonly #context: BrowserContext
  readonly #targets: Targets
  readonly #listeners: Set<() => void>
  readonly #pages = new Map<string, Page>()
  #reason: string | undefined

  /** Made by `watchBrowser`. */
  constructor(
    chromium: Chromium,
    browser: Browser,
    { targets, listeners }: { readonly targets: Targets; readonly listeners: Set<() => void> },
  ) {
    const [context] = browser.contexts()
    if (context === undefined) throw new Error('The browser has no windows that can be watched.')
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
    // A dialog belongs to the person in front of it; without windows there is none, and Playwright dismisses it.
    if (!chromium.isHeadless) context.on('dialog', () => undefined)
    context.on('page', (page) => void this.#meet(page))
  }

  /** Runs after each change of the tabs, until the function that this gives is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Gets to know the tabs that are open already. */
  async settle(): Promise<void> {
    this.#targets.refresh()
    await Promise.all(this.#context.pages().map((page) => this.#meet(page)))
  }

  /** The tabs that are open. A title can be a moment behind. */
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

  /** The tab of this id, or the one in front; throws a `TabUnavailable` when there is none to work with. */
  tab(id?: string): WatchedTab {
    const tab = this.#find(id)
    const page = this.#pages.get(tab.target)
    if (page === undefined) throw new TabUnavailable('busy', `${tab.id} has only just opened. Try again in a moment.`)
    const { signal } = tab
    return { id: tab.id, page, signal, within: (work) => untilUnavailable(signal, work(page)) }
  }

  /**
   * Goes to an address: in the tab in front, or in a new one where that belongs to somebody. Waits until the page is there. It is
   * not recorded as an action of the person.
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
        // Until the browser's own error page is there, it would get in the way of the next address.
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
      throw new Error(`${url} could not be opened: ${why} Is its server running, and the address right?`, { cause: error })
    }
    return tab
  }

  /** Measures how a tab's page performs now, and records it. */
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

  /** Ends the browser if we started it, and lets go of it otherwise. */
  async close(): Promise<void> {
    await this.#chromium.close()
    await this.ended
    // Playwright has a folder to remove.
    await this.#browser.close().catch(() => undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #requireBrowser(): void {
    if (this.#reason === undefined) return
    throw new TabUnavailable('ended', `The browser is gone: ${this.#reason}. Start unfold-browser again to watch another one.`)
  }

  #find(id: string | undefined): Tab {
    this.#requireBrowser()
    const tab = id === undefined ? this.#targets.current : this.#targets.tabs.get(id)
    if (tab?.state === 'open') return tab
    if (tab?.signal.reason instanceof TabUnavailable) throw tab.signal.reason
    const ids = [...this.#targets.tabs.keys()]
    if (id === undefined || ids.length === 0)
      throw new TabUnavailable('none', 'No tab is open. Open a page in the watched browser.')
    throw new TabUnavailable('unknown', `There is no tab of that id. Open are: ${ids.join(', ')}.`)
  }

  async #newTab(): Promise<WatchedTab> {
    const page = await this.#context.newPage()
    await this.#meet(page)
    const [target] = [...this.#pages].find(([, each]) => each === page) ?? []
    const tab = [...this.#targets.tabs.values()].find((each) => each.target === target)
    return this.tab(tab?.id)
  }

  /** Finds out which tab a page of Playwright's is. */
  async #meet(page: Page): Promise<void> {
    if ([...this.#pages.values()].includes(page)) return
    try {
      const session = await this.#context.newCDPSession(page)
      const { targetInfo } = await session.send('Target.getTargetInfo')
      this.#pages.set(targetInfo.targetId, page)
      page.once('close', () => this.#pages.delete(targetInfo.targetId))
      await session.detach()
    } catch {
      // Closed before it could be asked.
    }
  }
}

/** The work's result, or the reason why the tab is gone, whichever is first. */
async function untilUnavailable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // Nobody waits for it any more when the tab is gone.
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
    // Playwright may notice first, in words of its own.
    if (signal.aborted) throw signal.reason
    throw error
  } finally {
    signal.removeEventListener('abort', gone)
  }
}
