import { afterAll, beforeAll, expect, test } from 'vitest'
import { frameLimit } from '../src/capture/sockets.ts'
import type { SocketEvent } from '../src/records/records.ts'
import { describeInChromium, type Watching, watching } from './chromium.ts'
import { type Site, startSite } from './site.ts'

describeInChromium('WebSocket messages', () => {
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

  const events = (): readonly SocketEvent[] => [...watch.recording.of('sockets')]
  const fresh = async (path: string): Promise<void> => {
    await watch.browser.open('about:blank')
    watch.recording.clear()
    await watch.browser.open(`${site.url}${path}`)
  }
  const say = (message: string): Promise<void> =>
    watch.page.evaluate((text) => {
      const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/ws`)
      socket.onopen = () => socket.send(text)
    }, message)

  test('each message is an event, binary ones as base64, and the connection has counters', async () => {
    await fresh('/')
    await watch.page.getByTestId('socket').click()
    await watch.until(
      'four messages',
      () => events().filter(({ event }) => event === 'sent' || event === 'received').length === 4,
    )
    expect(events().map(({ event, text, encoding, bytes }) => [event, text, encoding, bytes])).toEqual([
      ['opened', undefined, undefined, 0],
      ['sent', 'hello', undefined, 5],
      ['sent', 'AQID/w==', 'base64', 4],
      ['received', 'hello', undefined, 5],
      ['received', 'AQID/w==', 'base64', 4],
    ])
    expect(watch.recording.connections()).toMatchObject([
      {
        url: `${site.url.replace('http', 'ws')}/ws`,
        tab: 'tab-1',
        state: 'open',
        sent: { messages: 2, bytes: 9 },
        received: { messages: 2, bytes: 9 },
      },
    ])
    expect(events()[0]?.socket).toBe(watch.recording.connections()[0]?.id)
  })

  test('a close from either side is an event', async () => {
    await fresh('/')
    await watch.page.getByTestId('socket').click()
    await watch.until('it is open', () => watch.recording.connections()[0]?.state === 'open')
    await watch.page.getByTestId('hang-up').click()
    await watch.until('it is closed', () => watch.recording.connections()[0]?.state === 'closed')
    expect(events().at(-1)?.event).toBe('closed')
    await say('close')
    await watch.until('the server closed', () => events().filter(({ event }) => event === 'closed').length === 2)
  })

  test('an open connection stays listed after clearing', async () => {
    await fresh('/')
    await watch.page.getByTestId('socket').click()
    await watch.until('both answers', () => watch.recording.connections()[0]?.received.messages === 2)
    const [before] = watch.recording.connections()
    watch.recording.clear()
    expect(events()).toEqual([])
    expect(watch.recording.connections()).toEqual([before])
    await say('another')
    await watch.until('another one', () => watch.recording.connections().length === 2)
    await watch.page.getByTestId('hang-up').click()
    const closed = await watch.until('it is closed', () => watch.recording.connections().find(({ state }) => state === 'closed'))
    expect(closed).toMatchObject({ id: before?.id, url: before?.url, received: { messages: 2 } })
    expect(events().filter(({ socket }) => socket === before?.id)).toMatchObject([{ event: 'closed' }])
    watch.recording.clear()
    expect(watch.recording.connections().map(({ id, state }) => [id === before?.id, state])).toEqual([[false, 'open']])
  })

  test('navigating away closes the connections of the page', async () => {
    await fresh('/')
    await watch.page.getByTestId('socket').click()
    await watch.until('it is open', () => watch.recording.connections()[0]?.state === 'open')
    await watch.browser.open(`${site.url}/second`)
    await watch.until('it is closed', () => watch.recording.connections()[0]?.state === 'closed')
    expect(events().filter(({ event }) => event === 'closed')).toHaveLength(1)
  })

  test('a long message is truncated, with its original length', async () => {
    await fresh('/second')
    await say('much')
    const received = await watch.until('the message', () => events().find(({ event }) => event === 'received'))
    expect(received).toMatchObject({ bytes: 100 * 1024, cut: true })
    expect(received.text).toHaveLength(frameLimit)
  })

  test('a rejected connection has a failure reason', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => void new WebSocket(`${location.origin.replace('http', 'ws')}/nothing-here`))
    const failed = await watch.until('the failure', () => events().find(({ event }) => event === 'failed'))
    expect(failed.text).toContain('404')
    await watch.until('it is closed', () => watch.recording.connections()[0]?.state === 'closed')
    expect(watch.recording.connections()[0]?.closedBecause).toContain('404')
  })

  test('a flood of messages is counted completely, and recorded up to the limit', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => {
      const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/ws`)
      socket.onopen = () => {
        for (let i = 0; i < 5_000; i++) socket.send(`message ${i}`)
      }
    })
    await watch.until('all are counted', () => watch.recording.connections()[0]?.received.messages === 5_000)
    expect(watch.recording.connections()[0]?.sent.messages).toBe(5_000)
    await watch.until('dropped messages are reported', () =>
      [...watch.recording.of('logs')].some(({ text }) => /\d+ more WebSocket messages were dropped/.test(text)),
    )
  })
})
