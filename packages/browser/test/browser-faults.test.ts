import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { attachChromium, ChromiumFailed, findChromium, launchChromium } from '../src/page/chromium.ts'
import { TabUnavailable, watchBrowser } from '../src/page/watched-browser.ts'
import { Recording } from '../src/recording/recording.ts'
import { Redactor } from '../src/redaction/redaction.ts'
import { chromiumArgs, chromiumPath, crash, describeInChromium, until, watching } from './chromium.ts'
import { startSite } from './site.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'unfold-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  return path
}

function program(path: string, text: string): string {
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  return path
}

/** The error message of a failed operation. */
function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'it did not fail', String)
}

/** A URL on this machine where nothing listens. */
async function closedPort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

/** A browser started by the user, with its own debugging port. */
async function startUserBrowser(): Promise<{ readonly url: string; readonly isRunning: () => boolean }> {
  const profile = folder()
  const args = [
    '--headless',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    '--no-first-run',
    ...chromiumArgs,
    'about:blank',
  ]
  const child = spawn(chromiumPath(), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const url = await until('a port', () => /DevTools listening on ws:\/\/([\d.:]+)\//.exec(stderr)?.[1])
  return { url: `http://${url}`, isRunning: () => child.exitCode === null && child.signalCode === null }
}

test('a browser is found by option, then by variable, then on the path', () => {
  const path = folder()
  const asked = program(join(path, 'asked'), '')
  const variable = program(join(path, 'variable'), '')
  const usual = program(join(path, 'chromium'), '')
  const variables = { PATH: path, UNFOLD_BROWSER_PATH: variable }
  expect(findChromium({ platform: 'linux', variables, path: asked })).toBe(asked)
  expect(findChromium({ platform: 'linux', variables })).toBe(variable)
  expect(findChromium({ platform: 'linux', variables: { PATH: path } })).toBe(usual)
})

test('a missing requested browser is reported, even if others are installed', () => {
  const missing = join(folder(), 'nothing')
  expect(() => findChromium({ platform: process.platform, variables: process.env, path: missing })).toThrow(
    `No executable at ${missing}`,
  )
})

test.each([
  ['darwin', 'brew install --cask chromium'],
  ['win32', 'winget install Google.Chrome'],
] as const)('without a browser on %s, the error says how to install one', (platform, how) => {
  expect(() => findChromium({ platform, variables: {} })).toThrow(how)
  expect(() => findChromium({ platform, variables: {} })).toThrow('UNFOLD_BROWSER_PATH')
})

test.skipIf(process.platform === 'win32')('the output of a browser that exits immediately is quoted', async () => {
  const executablePath = program(join(folder(), 'broken'), '#!/bin/sh\necho "no usable sandbox" >&2\nexit 7\n')
  const failed = await launchChromium({ executablePath, headless: true }).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(ChromiumFailed)
  expect(String(failed)).toMatch(/exit code 7[\s\S]*no usable sandbox[\s\S]*In a container/)
})

test('a browser on another machine is rejected', async () => {
  await expect(attachChromium('http://192.0.2.1:9222')).rejects.toThrow(/192\.0\.2\.1 is another machine/)
  await expect(attachChromium('ws://example.com/devtools/browser/1')).rejects.toThrow(ChromiumFailed)
})

test('an unreachable browser is reported with advice', async () => {
  await expect(attachChromium(await closedPort())).rejects.toThrow(
    /nothing answers there\. Start one with --remote-debugging-port=9222/,
  )
  await expect(attachChromium('not an address')).rejects.toThrow(/is not a valid browser URL/)
})

test('a server that is not a browser is detected', async () => {
  const answers = ['<html>', JSON.stringify({ webSocketDebuggerUrl: 'ws://192.0.2.1/devtools/browser/1' })]
  const server = createServer((_request, response) => response.end(answers.shift()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(attachChromium(url)).rejects.toThrow(/the address belongs to a server that is not a browser/)
  await expect(attachChromium(url)).rejects.toThrow(/192\.0\.2\.1 is another machine/)
})

describeInChromium('a browser with faults', () => {
  test('a crash is recorded and reported to running work', async () => {
    await using site = await startSite()
    await using watch = await watching({ open: `${site.url}/` })
    await watch.page.getByTestId('socket').click()
    await watch.until('a socket', () => watch.recording.connections()[0]?.state === 'open')
    const failure = failureOf(watch.tab.within((page) => page.evaluate(() => new Promise(() => undefined))))
    await crash(watch.page)
    expect(await failure).toMatch(/tab-1 has crashed at http/)
    const entry = await watch.until('the crash', () =>
      [...watch.recording.of('logs')].find(({ text }) => text.includes('crashed')),
    )
    expect(entry).toMatchObject({ level: 'error', from: 'browser', tab: 'tab-1' })
    expect(watch.recording.connections()[0]).toMatchObject({ state: 'closed', closedBecause: 'the page crashed' })
    expect(watch.browser.tabs()).toMatchObject([{ id: 'tab-1', hasCrashed: true }])
    expect(() => watch.browser.tab()).toThrow(TabUnavailable)
    const { id } = await watch.browser.open(`${site.url}/second`)
    expect(id).toBe('tab-2')
    expect(watch.browser.tab().id).toBe('tab-2')
  })

  test('closing a tab ends running work at once', async () => {
    await using site = await startSite()
    await using watch = await watching({ open: `${site.url}/fetches?path=/never` })
    await watch.until('a pending request', () => watch.recording.pending().length > 0)
    const failure = failureOf(watch.tab.within((page) => page.evaluate(() => new Promise(() => undefined))))
    await watch.page.close()
    expect(await failure).toBe('TabUnavailable: tab-1 was closed. Open a page in the watched browser.')
    expect(watch.browser.tabs()).toEqual([])
    expect(() => watch.browser.tab()).toThrow('No tab is open.')
    expect(() => watch.browser.tab('tab-1')).toThrow('No tab is open.')
    await watch.until('nothing is pending', () => watch.recording.pending().length === 0)
    await watch.browser.open(`${site.url}/second`)
    expect(() => watch.browser.tab('tab-1')).toThrow('Unknown tab. Open tabs: tab-2.')
  })

  test('tabs are distinguished, and the most recently used one is active', async () => {
    await using site = await startSite()
    await using watch = await watching({ open: `${site.url}/` })
    const second = await watch.page.context().newPage()
    await second.goto(`${site.url}/second`)
    await watch.until('the second tab', () => watch.browser.tabs().find(({ id, isCurrent }) => id === 'tab-2' && isCurrent))
    await watch.page.getByTestId('log').click()
    await watch.until('the first is in front', () =>
      watch.browser.tabs().find(({ id, isCurrent }) => id === 'tab-1' && isCurrent),
    )
    await second.evaluate(() => console.log('from the second'))
    const line = await watch.until('its line', () =>
      [...watch.recording.of('logs')].find(({ text }) => text === 'from the second'),
    )
    expect(line).toMatchObject({ tab: 'tab-2', url: `${site.url}/second` })
    await watch.until(
      'both titles',
      () =>
        watch.browser
          .tabs()
          .map(({ title }) => title)
          .join() === 'Shop of small things,Second page',
    )
  })

  test('listeners are notified of changes of the tabs', async () => {
    await using watch = await watching()
    let changes = 0
    const stop = watch.browser.onChange(() => {
      changes += 1
    })
    await watch.page.context().newPage()
    await watch.until('a change', () => changes > 0)
    stop()
    const before = changes
    await watch.page.context().newPage()
    await watch.until('a third tab', () => watch.browser.tabs().length === 3)
    expect(changes).toBe(before)
  })

  test('a browser that dies fails all pending work immediately', async () => {
    await using watch = await watching()
    const failure = failureOf(watch.tab.within((page) => page.evaluate(() => new Promise(() => undefined))))
    const session = await watch.page.context().browser()?.newBrowserCDPSession()
    session?.send('Browser.crash').catch(() => undefined)
    expect(await failure).toMatch(/tab-1 was closed/)
    expect(await watch.browser.ended).toBe('the browser ended')
    expect(() => watch.browser.tab()).toThrow(/The browser is gone: the browser ended\. Restart unfold-browser/)
    await expect(watch.browser.open('about:blank')).rejects.toThrow(TabUnavailable)
  })

  test('an unreachable page is reported', async () => {
    await using watch = await watching()
    await expect(watch.browser.open('http://127.0.0.1:1/')).rejects.toThrow(
      /http:\/\/127\.0\.0\.1:1\/ could not be opened: .*Is its server running/,
    )
    await watch.browser.open('about:blank')
  })

  test('a temporary profile is deleted, and a configured one is kept', async () => {
    const before = new Set(readdirSync(tmpdir()))
    const own = await watching()
    const made = readdirSync(tmpdir()).filter((name) => name.startsWith('unfold-browser-') && !before.has(name))
    expect(made.length).toBeGreaterThan(0)
    await own.browser.close()
    const given = folder()
    const other = await watching({ profile: given })
    await other.browser.close()
    expect(existsSync(join(given, 'Default'))).toBe(true)
  })

  const megabytes = runs({ long: 500, sample: 100 })

  test(`${megabytes} MB of responses are not kept in memory`, async () => {
    await using site = await startSite()
    await using watch = await watching({ open: `${site.url}/fetches?path=/huge%3Fmb=${megabytes}` })
    const before = process.memoryUsage().heapUsed
    const request = await until(
      'it has passed',
      () => [...watch.recording.of('network')].find(({ url }) => url.includes('/huge?')),
      60_000,
    )
    expect(request.responseBody).toEqual({ mimeType: 'text/plain', bytes: megabytes * 1024 * 1024, omitted: 'larger than 2 MB' })
    expect(process.memoryUsage().heapUsed - before).toBeLessThan((megabytes / 2) * 1024 * 1024)
    expect(watch.recording.of('network').bytes).toBeLessThan(1024 * 1024)
  }, 300_000)

  test('a flood of console messages is admitted up to the limit, counted, and does not block anything', async () => {
    await using site = await startSite()
    await using watch = await watching({ open: `${site.url}/flood?lines=20000` })
    // Evaluated during the flood: the page handles it between its bursts.
    await watch.tab.within((page) => page.evaluate(() => document.readyState))
    await until('it is over', () => watch.browser.tabs()[0]?.title === 'Flood is over', 60_000)
    await watch.page.evaluate(() => console.error('after the flood'))
    await watch.until('life goes on', () => [...watch.recording.of('logs')].some(({ text }) => text === 'after the flood'))
    const logs = watch.recording.of('logs')
    expect(logs.length).toBeLessThanOrEqual(1_000)
    expect(logs.bytes).toBeLessThanOrEqual(4 * 1024 * 1024)
    const dropped = await watch.until('what was dropped', () =>
      [...logs].find(({ text }) => /^\d+ more console lines were dropped/.test(text)),
    )
    expect(dropped).toMatchObject({ level: 'warning', from: 'browser', tab: 'tab-1' })
  }, 300_000)

  test('errors are not lost in a flood of other messages', async () => {
    await using site = await startSite()
    // Each burst exceeds the limit of a second; in the pause, everything is read on a busy machine too.
    await using watch = await watching({ open: `${site.url}/flood?lines=0&burst=3000&pause=500` })
    await watch.until('something is dropped', () =>
      [...watch.recording.of('logs')].some(({ text }) => text.includes('were dropped')),
    )
    for (let i = 0; i < 3; i++) {
      await watch.page.evaluate((number) => console.error(`important ${number}`), i)
      await watch.until(`error ${i}`, () => [...watch.recording.of('logs')].some(({ text }) => text === `important ${i}`))
    }
    await watch.page.getByTestId('stop').click({ timeout: 120_000 })
  }, 300_000)

  test('attaching to a running browser records it and does not close it', async () => {
    await using site = await startSite()
    const userBrowser = await startUserBrowser()
    const recording = new Recording({ redactor: new Redactor() })
    const browser = await watchBrowser(await attachChromium(userBrowser.url), recording)
    const { page } = await browser.open(`${site.url}/`)
    await page.getByTestId('add').click()
    await page.getByTestId('log').click()
    await until('a click', () => [...recording.of('actions')].some(({ selectors }) => selectors?.testId === 'log'))
    await until('a line', () => [...recording.of('logs')].some(({ text }) => text.startsWith('an error line')))
    await until('a request', () => [...recording.of('network')].some(({ method, status }) => method === 'POST' && status === 201))
    await until('a measurement', () => recording.of('snapshots').length > 0)
    await browser.close()
    expect(userBrowser.isRunning()).toBe(true)
    // Log entries from before are replayed after reattaching.
    const again = new Recording({ redactor: new Redactor() })
    const back = await watchBrowser(await attachChromium(userBrowser.url), again)
    expect(back.tabs().map(({ url }) => url)).toContain(`${site.url}/`)
    await until('the old line', () => [...again.of('logs')].some(({ text }) => text === 'the front page is here'))
    const other = await back.open(`${site.url}/second`)
    expect(back.tabs().map(({ url }) => url)).toEqual(expect.arrayContaining([`${site.url}/`, `${site.url}/second`]))
    await crash(other.page)
    await until('its crash', () => back.tabs().find(({ hasCrashed }) => hasCrashed))
    await back.close()
    expect(userBrowser.isRunning()).toBe(true)
  })

  test('a large message in an attached browser does not break the connection', async () => {
    await using site = await startSite()
    const userBrowser = await startUserBrowser()
    const recording = new Recording({ redactor: new Redactor() })
    await using browser = await watchBrowser(await attachChromium(userBrowser.url.replace('http:', 'ws:')), recording)
    const { page } = await browser.open(`${site.url}/second`)
    await page.evaluate(() => console.log('x'.repeat(12_000_000)))
    await until('it is reported', () =>
      [...recording.of('logs')].some(({ text }) => /console line of 11 MB was not recorded/.test(text)),
    )
    const long = 'y'.repeat(3_000_000)
    expect(await page.evaluate((text) => text.length, long)).toBe(long.length)
    expect((await page.evaluate(() => 'z'.repeat(10_000_000))).length).toBe(10_000_000)
  })
})
