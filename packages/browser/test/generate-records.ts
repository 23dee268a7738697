import type {
  Audit,
  AuditFault,
  Body,
  LogEntry,
  NetworkRequest,
  PerformanceSnapshot,
  Recorded,
  Selectors,
  UserAction,
} from '../src/records/records.ts'

const start = Date.UTC(2026, 0, 2, 10)

/** Creates records like those of capture, one second apart, each with its sequence number. */
export class RecordSequence {
  #seq = 0
  #at = start
  readonly tab: string

  constructor(tab = 'tab-1') {
    this.tab = tab
  }

  /** Advances the clock. */
  wait(ms: number): void {
    this.#at += ms
  }

  action(action: UserAction['action'], url: string, more: Partial<UserAction> = {}): UserAction {
    return { ...this.#next(1_000), action, url, ...more }
  }

  request(url: string, more: Partial<NetworkRequest> = {}): NetworkRequest {
    const next = this.#next(100)
    return {
      ...next,
      startedAt: next.at - 40,
      method: 'GET',
      url,
      type: 'fetch',
      requestHeaders: [{ name: 'accept', value: '*/*' }],
      status: 200,
      statusText: 'OK',
      protocol: 'http/1.1',
      responseHeaders: [{ name: 'content-type', value: 'application/json' }],
      fromCache: false,
      timings: { blocked: 1, dns: -1, connect: -1, ssl: -1, send: 0.5, wait: 20, receive: 2 },
      transferred: 300,
      pageUrl: new URL('/', url).href,
      ...more,
    }
  }

  log(level: LogEntry['level'], text: string, more: Partial<LogEntry> = {}): LogEntry {
    return { ...this.#next(10), level, from: 'console', text, url: 'http://127.0.0.1/', ...more }
  }

  snapshot(url: string, more: Partial<PerformanceSnapshot> = {}): PerformanceSnapshot {
    return { ...this.#next(10), url, longTasks: { count: 0, total: 0, longest: 0 }, requests: 3, transferred: 900, ...more }
  }

  audit(url: string, faults: readonly AuditFault[]): Audit {
    return { ...this.#next(10), url, engine: 'axe-core 4.14.0', faults, passes: 12, incomplete: 1 }
  }

  #next(ms: number): Recorded {
    this.#at += ms
    return { seq: ++this.#seq, at: this.#at, tab: this.tab }
  }
}

/** Selectors of an element; only the position is required. */
export function found(css: string, more: Partial<Selectors> = {}): { readonly selectors: Selectors } {
  return { selectors: { css, xpath: `//*[@id="none"]`, ...more } }
}

export function jsonBody(value: unknown): Body {
  const text = JSON.stringify(value)
  return { mimeType: 'application/json', bytes: Buffer.byteLength(text), text }
}

export function fault(rule: string, impact: AuditFault['impact'], more: Partial<AuditFault> = {}): AuditFault {
  return {
    rule,
    impact,
    help: `Help for ${rule}`,
    description: `Ensures ${rule}`,
    helpUrl: `https://dequeuniversity.com/rules/axe/4.14/${rule}?application=axeAPI`,
    tags: ['wcag2a', 'wcag111'],
    elements: [{ selector: 'main > img', html: '<img src="/picture.svg">', summary: 'Fix any of the following: no alt' }],
    count: 1,
    ...more,
  }
}

/** Harmless actions of every kind, with every possible effect. */
export function everyKind(): readonly UserAction[] {
  const [sequence, other] = [new RecordSequence(), new RecordSequence('tab-2')]
  const page = 'http://shop.example/'
  const on = { selectors: { css: 'a', xpath: '' } }
  const names = [{ testId: 'a' }, { role: { role: 'link', name: 'a' } }, { label: 'a' }, { placeholder: 'a' }, { text: 'a' }]
  const first = sequence.action('submit', page, on)
  other.wait(6_000)
  return [
    first,
    ...names.map((more) => sequence.action('click', page, { selectors: { ...on.selectors, ...more } })),
    other.action('navigation', page, { cause: 'link' }),
    sequence.action('input', page, { ...on, value: 'a' }),
    sequence.action('input', page, { ...on, secret: true }),
    sequence.action('select', page, { ...on, value: 'a' }),
    sequence.action('select', page, { ...on, secret: true }),
    sequence.action('input', `${page}framed`, { ...on, value: 'a' }),
    sequence.action('check', page, { ...on, checked: true }),
    sequence.action('scroll', page, { ...on, scroll: { x: 1, y: 1 } }),
    sequence.action('scroll', page, { scroll: { x: 1, y: 1 } }),
    sequence.action('key', page, { key: 'Tab' }),
    sequence.action('key', page, { ...on, key: 'Tab' }),
    sequence.action('navigation', page, { cause: 'link' }),
    sequence.action('click', page, { selectors: { ...on.selectors, text: 'a' } }),
    sequence.action('navigation', `${page}orders/1`, { cause: 'form' }),
    sequence.action('navigation', page, { cause: 'history' }),
    sequence.action('navigation', `${page}orders/1`, { cause: 'history' }),
    sequence.action('navigation', page, { cause: 'reload' }),
  ]
}
