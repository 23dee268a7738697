import { defaultLimits, type Recording } from '@unfold-mcp/browser'

const tab = 'tab-1'
const url = 'http://127.0.0.1/shop'

/** Fills every buffer to its limit, like a page does. */
export function fillAll(recording: Recording): void {
  for (let i = 0; i < defaultLimits.logs.entries; i++) addLog(recording, i)
  for (let i = 0; i < defaultLimits.network.entries; i++) addRequest(recording, i)
  for (let i = 0; i < defaultLimits.sockets.entries; i++) addFrame(recording, i)
  for (let i = 0; i < defaultLimits.actions.entries; i++) addAction(recording, i)
  for (let i = 0; i < defaultLimits.snapshots.entries; i++) {
    recording.add('snapshots', {
      at: i,
      tab,
      url,
      lcp: 900 + i,
      longTasks: { count: 1, total: 60, longest: 60 },
      requests: 4,
      transferred: 9_000,
    })
  }
  for (let i = 0; i < 5; i++) {
    const counts = { messages: i, bytes: i * 10 }
    recording.connection({ id: `socket-${i}`, tab, url: 'ws://127.0.0.1/live', state: 'open', sent: counts, received: counts })
  }
}

export function addLog(recording: Recording, i: number): void {
  const level = i % 5 === 0 ? 'error' : 'log'
  recording.add('logs', {
    at: i,
    tab,
    level,
    from: 'console',
    text: `line ${i} of what a page has to say: ${'x'.repeat(80)}`,
    url,
  })
}

export function addFrame(recording: Recording, i: number): void {
  const text = JSON.stringify({ price: i, items: ['a', 'b', 'c'] })
  recording.add('sockets', {
    at: i,
    tab,
    socket: 'socket-1',
    url: 'ws://127.0.0.1/live',
    event: 'received',
    text,
    bytes: text.length,
  })
}

export function addAction(recording: Recording, i: number): void {
  recording.add('actions', { at: i, tab, action: 'click', url, selectors: { css: `#item-${i}`, xpath: `//*[@id="item-${i}"]` } })
}

export function addRequest(recording: Recording, i: number): void {
  const text = JSON.stringify({ id: i, name: `Item ${i}`, price: 9.5, tags: ['new'] })
  recording.add('network', {
    at: i,
    tab,
    method: 'GET',
    url: `http://127.0.0.1/api/items/${i}`,
    type: 'fetch',
    requestHeaders: [{ name: 'accept', value: 'application/json' }],
    status: 200,
    statusText: 'OK',
    protocol: 'http/1.1',
    responseHeaders: [{ name: 'content-type', value: 'application/json' }],
    responseBody: { mimeType: 'application/json', bytes: text.length, text },
    fromCache: false,
    startedAt: i,
    timings: { blocked: 0, dns: -1, connect: -1, ssl: -1, send: 0, wait: 3, receive: 1 },
    transferred: text.length,
    pageUrl: url,
  })
}
