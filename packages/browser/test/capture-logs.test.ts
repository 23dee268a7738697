import { afterAll, beforeAll, expect, test } from 'vitest'
import { logTextLimit } from '../src/capture/rendering.ts'
import type { LogEntry } from '../src/records/records.ts'
import { describeInChromium, type Watching, watching } from './chromium.ts'
import { type Site, startSite } from './site.ts'

describeInChromium('console messages, exceptions and browser messages', () => {
  let site: Site
  let watch: Watching
  beforeAll(async () => {
    site = await startSite()
    watch = await watching()
  })
  afterAll(async () => {
    await watch?.browser.close()
    await site?.close()
  })

  const logs = (): readonly LogEntry[] => [...watch.recording.of('logs')]
  const entry = (text: string): Promise<LogEntry> =>
    watch.until(`a log entry with “${text}”`, () => logs().find((each) => each.text.includes(text)))
  const fresh = async (path: string): Promise<void> => {
    await watch.browser.open('about:blank')
    watch.recording.clear()
    await watch.browser.open(`${site.url}${path}`)
  }

  test('every console level is recorded with its name', async () => {
    await fresh('/')
    await watch.page.getByTestId('log').click()
    await entry('an error line')
    const levels = Object.fromEntries(
      logs()
        .filter(({ text }) => / line/.test(text))
        .map(({ text, level }) => [text.split(' ')[1], level]),
    )
    expect(levels).toEqual({ debug: 'debug', plain: 'log', info: 'info', warning: 'warning', error: 'error' })
  })

  test('arguments are formatted as in a console, with their source location', async () => {
    await fresh('/')
    await watch.page.getByTestId('log').click()
    const { text, source, url, tab, from } = await entry('a plain line')
    expect({ text, url, tab, from }).toEqual({
      text: "a plain line 42 [1, 'two', null] {name: 'thing', price: 1.5}",
      url: `${site.url}/`,
      tab: watch.tab.id,
      from: 'console',
    })
    expect(source).toEqual({ url: `${site.url}/front.js`, line: expect.any(Number), column: expect.any(Number) })
  })

  test('placeholders in a format are filled in', async () => {
    await fresh('/second')
    await watch.page.evaluate(() =>
      console.log('%s has %d of %i %o %cred%c 100%% %s', 'Ada', 4.5, 7.9, { a: 1 }, 'color:red', '', 'end', 'more'),
    )
    expect((await entry('Ada has')).text).toBe('Ada has 4 of 7 {a: 1} red 100% end more')
  })

  test('values of every type have a text', async () => {
    await fresh('/second')
    await watch.page.evaluate(() =>
      console.log(
        'kinds',
        undefined,
        null,
        Number.NaN,
        -0,
        10n,
        true,
        Symbol('s'),
        new Map([['k', 1]]),
        new Set(['v']),
        new Date(0),
        /x/g,
        [],
        {},
      ),
    )
    expect((await entry('kinds')).text).toMatch(
      /^kinds undefined null NaN -0 10n true Symbol\(s\) Map\(1\) \{'?k'? => 1\} Set\(1\) \{'?v'?\} .*1970.* \/x\/g \[\] \{\}$/,
    )
  })

  test('an uncaught exception is recorded with its stack', async () => {
    await fresh('/')
    await watch.page.getByTestId('throw').click()
    const { level, from, text, stack } = await entry('thrown by the page')
    expect({ level, from, text }).toEqual({ level: 'error', from: 'exception', text: 'Uncaught TypeError: thrown by the page' })
    expect(stack).toContain(`${site.url}/front.js`)
  })

  test('an unhandled rejection is recorded with its stack', async () => {
    await fresh('/')
    await watch.page.getByTestId('reject').click()
    const { level, from, text, stack } = await entry('rejected by the page')
    expect({ level, from, text }).toEqual({
      level: 'error',
      from: 'exception',
      text: 'Uncaught (in promise) RangeError: rejected by the page',
    })
    expect(stack).toContain('front.js')
  })

  test('browser messages are distinguished', async () => {
    await fresh('/')
    await watch.page.getByTestId('fail').click()
    const { level, from, source } = await entry('status of 500')
    expect({ level, from, url: source?.url }).toEqual({ level: 'error', from: 'browser', url: `${site.url}/api/fail` })
  })

  test('a long message is truncated', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => console.log(`long ${'ä'.repeat(100_000)}`))
    const { text } = await entry('long')
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(logTextLimit + 3)
    expect(text).toMatch(/^long ä+…$/)
  })

  test('a message of many megabytes is not recorded, which is reported', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => console.log('x'.repeat(20_000_000)))
    expect((await entry('was not recorded')).text).toMatch(/^A console line of 19 MB was not recorded/)
    await watch.page.evaluate(() => console.log('and on it goes'))
    await entry('and on it goes')
  })

  test('messages of cross-origin frames and workers are recorded', async () => {
    await fresh('/frames')
    await entry('the frame has its things')
    await watch.page.evaluate(() => {
      const code = 'console.log("a line from the worker"); setTimeout(() => { throw new Error("thrown in the worker") })'
      new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })))
    })
    await entry('a line from the worker')
    const thrown = await entry('thrown in the worker')
    expect(thrown.level).toBe('error')
    expect(logs().filter(({ text }) => text.includes('thrown in the worker'))).toHaveLength(1)
  })

  test('a dialog is recorded and does not block a headless browser', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => alert('look here'))
    expect((await entry('look here')).from).toBe('browser')
  })
})
