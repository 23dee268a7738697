import type { Page } from 'playwright-core'
import { beforeAll, describe } from 'vitest'
import { ChromiumMissing, findChromium, type LaunchOptions, launchChromium } from '../src/page/chromium.ts'
import { type WatchedBrowser, type WatchedTab, watchBrowser } from '../src/page/watched-browser.ts'
import { Recording } from '../src/recording/recording.ts'
import { Redactor } from '../src/redaction/redaction.ts'

const { env } = process
const found = (() => {
  try {
    return { path: findChromium({ platform: process.platform, variables: env }) }
  } catch (error) {
    if (!(error instanceof ChromiumMissing)) throw error
    return { missing: error.message }
  }
})()
// A browser is slow on a busy machine.
const testMs = 300_000
const isRequired = env.UNFOLD_REQUIRE_BROWSER !== undefined || (env.CI === 'true' && env.UNFOLD_NO_INSTALL !== '1')

/** The browser that tests use; throws if there is none. */
export function chromiumPath(): string {
  if (found.path === undefined) throw new Error(found.missing)
  return found.path
}

/** Arguments that a browser needs to run as root, for tests that start one themselves. */
export const chromiumArgs: readonly string[] = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : []

/** Tests in a real browser. Without one they are skipped with the reason; if a browser is required, they fail. */
export function describeInChromium(name: string, tests: () => void): void {
  const isSkipped = found.path === undefined && !isRequired
  if (isSkipped) console.warn(`Skipped, because there is no browser: ${name}.\n${found.missing}`)
  const note = isSkipped ? ' (skipped: Chromium not installed)' : ''
  describe.skipIf(isSkipped)(`in Chromium, ${name}${note}`, { timeout: testMs }, () => {
    beforeAll(() => void chromiumPath())
    tests()
  })
}

/** A headless browser that is recorded, its first tab, and its recording. */
export interface Watching extends AsyncDisposable {
  readonly browser: WatchedBrowser
  readonly recording: Recording
  readonly tab: WatchedTab
  /** Playwright's page of the first tab. */
  readonly page: Page
  /** Waits until a condition holds, and returns its value; fails after a timeout. */
  until<T>(what: string, holds: () => T | undefined | false): Promise<T>
}

interface WatchingOptions extends Partial<LaunchOptions> {
  readonly recording?: Recording
  /** The initial page. */
  readonly open?: string
}

/** Starts a browser and records it until it is disposed of. */
export async function watching({
  recording = new Recording({ redactor: new Redactor() }),
  open,
  ...options
}: WatchingOptions = {}): Promise<Watching> {
  const chromium = await launchChromium({ executablePath: chromiumPath(), headless: true, ...options })
  const browser = await watchBrowser(chromium, recording)
  const tab = open === undefined ? browser.tab() : await browser.open(open)
  return { browser, recording, tab, page: tab.page, until, [Symbol.asyncDispose]: () => browser.close() }
}

const untilMs = 120_000

/** Waits until a condition holds, and returns its value; fails after a timeout. */
export async function until<T>(what: string, holds: () => T | undefined | false, ms = untilMs): Promise<T> {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    const value = holds()
    if (value !== undefined && value !== false) return value
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`Waited ${ms} ms in vain: ${what}`)
}

/** Crashes the process of a page. */
export async function crash(page: Page): Promise<void> {
  await page.goto('chrome://crash').catch(() => undefined)
}
