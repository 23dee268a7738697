import type {
  Audit,
  LogEntry,
  NetworkRequest,
  NewRecord,
  PerformanceSnapshot,
  SocketEvent,
  SocketStatus,
  UserAction,
} from '../src/records/records.ts'

const at = Date.UTC(2026, 0, 31, 9, 30)
const url = 'https://shop.example/'

/** A console message with the given properties. */
export function log(given: Partial<NewRecord<LogEntry>> = {}): NewRecord<LogEntry> {
  return { at, tab: 'tab-1', level: 'log', from: 'console', text: 'hello', url, ...given }
}

export function request(given: Partial<NewRecord<NetworkRequest>> = {}): NewRecord<NetworkRequest> {
  return {
    at,
    tab: 'tab-1',
    method: 'GET',
    url: 'https://shop.example/api/items',
    type: 'fetch',
    requestHeaders: [{ name: 'accept', value: '*/*' }],
    status: 200,
    statusText: 'OK',
    protocol: 'h2',
    responseHeaders: [{ name: 'content-type', value: 'application/json' }],
    fromCache: false,
    startedAt: at - 25,
    timings: { blocked: 1, dns: -1, connect: -1, ssl: -1, send: 1, wait: 20, receive: 3 },
    transferred: 120,
    pageUrl: url,
    ...given,
  }
}

export function frame(given: Partial<NewRecord<SocketEvent>> = {}): NewRecord<SocketEvent> {
  return {
    at,
    tab: 'tab-1',
    socket: 'socket-1',
    url: 'wss://shop.example/live',
    event: 'received',
    text: 'ping',
    bytes: 4,
    ...given,
  }
}

export function action(given: Partial<NewRecord<UserAction>> = {}): NewRecord<UserAction> {
  return {
    at,
    tab: 'tab-1',
    action: 'click',
    url,
    selectors: { role: { role: 'button', name: 'Add' }, css: '#add', xpath: '//*[@id="add"]' },
    ...given,
  }
}

export function snapshot(given: Partial<NewRecord<PerformanceSnapshot>> = {}): NewRecord<PerformanceSnapshot> {
  return {
    at,
    tab: 'tab-1',
    url,
    lcp: 900,
    cls: 0.01,
    longTasks: { count: 1, total: 60, longest: 60 },
    requests: 4,
    transferred: 9_000,
    ...given,
  }
}

export function audit(given: Partial<NewRecord<Audit>> = {}): NewRecord<Audit> {
  return {
    at,
    tab: 'tab-1',
    url,
    engine: 'axe-core 4.14.0',
    faults: [
      {
        rule: 'image-alt',
        impact: 'critical',
        help: 'Images must have alternative text',
        description: 'Ensures images have alternative text',
        helpUrl: 'https://rules.example/image-alt',
        tags: ['wcag2a'],
        elements: [{ selector: 'img', html: '<img src="a.png">', summary: 'Fix this' }],
        count: 1,
      },
    ],
    passes: 12,
    incomplete: 0,
    ...given,
  }
}

export function connection(given: Partial<SocketStatus> = {}): SocketStatus {
  return {
    id: 'socket-1',
    tab: 'tab-1',
    url: 'wss://shop.example/live',
    state: 'open',
    sent: { messages: 1, bytes: 4 },
    received: { messages: 2, bytes: 8 },
    ...given,
  }
}
