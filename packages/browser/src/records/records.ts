/** What holds for everything that was recorded. */
export interface Recorded {
  /** Grows with everything that is recorded, whatever its kind: the order in which things happened. */
  readonly seq: number
  /** When it happened, in milliseconds since 1970. */
  readonly at: number
  /** The tab it happened in, such as `tab-1`. */
  readonly tab: string
}

/** A record before it has its place: the recording gives it one. */
export type NewRecord<R extends Recorded> = Omit<R, 'seq'>

export type LogLevel = 'error' | 'warning' | 'info' | 'log' | 'debug'

/** A console message, an exception nobody caught, or a word of the browser's own (a blocked request, a violation). */
export interface LogEntry extends Recorded {
  readonly level: LogLevel
  readonly from: 'console' | 'exception' | 'browser'
  readonly text: string
  /** Where in the page's code. */
  readonly source?: { readonly url: string; readonly line: number; readonly column: number }
  readonly stack?: string
  /** The page it was on. */
  readonly url: string
}

/** The body of a message, as much of it as is kept. */
export interface Body {
  readonly mimeType: string
  /** How long it really was. */
  readonly bytes: number
  /** Text, or base64 for what is no text. Absent when nothing is kept of it. */
  readonly text?: string
  readonly encoding?: 'base64'
  /** Only its beginning is kept. */
  readonly cut?: true
  /** Why nothing is kept of it. */
  readonly omitted?: string
}

export interface Header {
  readonly name: string
  readonly value: string
}

/** A request that is over: answered, or failed. */
export interface NetworkRequest extends Recorded {
  readonly method: string
  readonly url: string
  /** What the page wanted it for: document, script, fetch, xhr, image … */
  readonly type: string
  readonly requestHeaders: readonly Header[]
  readonly requestBody?: Body
  /** 0 when there was no answer. */
  readonly status: number
  readonly statusText: string
  readonly protocol: string
  readonly responseHeaders: readonly Header[]
  readonly responseBody?: Body
  readonly remoteAddress?: string
  readonly fromCache: boolean
  /** Why there was no answer. */
  readonly failure?: string
  readonly redirectedTo?: string
  /** When it was sent, in milliseconds since 1970; `at` is when it was over. */
  readonly startedAt: number
  /** How long each part took, in milliseconds; -1 for a part that did not happen. As HAR counts them. */
  readonly timings: {
    readonly blocked: number
    readonly dns: number
    readonly connect: number
    readonly ssl: number
    readonly send: number
    readonly wait: number
    readonly receive: number
  }
  /** Bytes that came over the wire. */
  readonly transferred: number
  /** The page it was made from. */
  readonly pageUrl: string
}

/** A request that has no end yet. */
export interface PendingRequest {
  readonly method: string
  readonly url: string
  readonly type: string
  readonly startedAt: number
  readonly tab: string
}

/** Something that happened on a WebSocket. */
export interface SocketEvent extends Recorded {
  readonly socket: string
  readonly url: string
  readonly event: 'opened' | 'sent' | 'received' | 'failed' | 'closed'
  /** The message, or why it failed or closed. */
  readonly text?: string
  readonly encoding?: 'base64'
  readonly bytes: number
  readonly cut?: true
}

/** A WebSocket as it stands. */
export interface SocketStatus {
  readonly id: string
  readonly tab: string
  readonly url: string
  readonly state: 'connecting' | 'open' | 'closed'
  readonly openedAt?: number
  readonly closedAt?: number
  readonly closedBecause?: string
  readonly sent: { readonly messages: number; readonly bytes: number }
  readonly received: { readonly messages: number; readonly bytes: number }
  readonly lastMessageAt?: number
}

/** Ways to find the same element again, best first in this order. */
export interface Selectors {
  readonly testId?: string
  readonly role?: { readonly role: string; readonly name: string }
  readonly label?: string
  readonly placeholder?: string
  readonly text?: string
  readonly css: string
  readonly xpath: string
}

/** Something the person in front of the page did, or that came of it. */
export interface UserAction extends Recorded {
  readonly action: 'click' | 'input' | 'select' | 'check' | 'key' | 'submit' | 'scroll' | 'navigation'
  /** The page it was done on; for a navigation, the one it led to. */
  readonly url: string
  /** The page that the frame is in, for what was done in a frame. */
  readonly pageUrl?: string
  readonly selectors?: Selectors
  /** What was typed or chosen; `secret` when it was a password or the like, and then there is no value. */
  readonly value?: string
  readonly secret?: true
  readonly checked?: boolean
  readonly key?: string
  readonly scroll?: { readonly x: number; readonly y: number }
  /** How a navigation came about: typed, link, form, reload, history, script (`pushState`) … */
  readonly cause?: string
}

/** How a page performed, from its start to when it was left or asked. Milliseconds, but for `cls`. */
export interface PerformanceSnapshot extends Recorded {
  readonly url: string
  readonly ttfb?: number
  readonly fcp?: number
  readonly lcp?: number
  readonly cls?: number
  readonly inp?: number
  readonly domContentLoaded?: number
  readonly load?: number
  readonly longTasks: { readonly count: number; readonly total: number; readonly longest: number }
  readonly requests: number
  readonly transferred: number
}

/** One fault that an accessibility audit found, on one or more elements. */
export interface AuditFault {
  /** The rule's id, such as `image-alt`. */
  readonly rule: string
  readonly impact: 'minor' | 'moderate' | 'serious' | 'critical'
  readonly help: string
  readonly description: string
  readonly helpUrl: string
  readonly tags: readonly string[]
  readonly elements: readonly { readonly selector: string; readonly html: string; readonly summary: string }[]
  /** How many elements have it, where more than are kept. */
  readonly count: number
}

/** What an accessibility audit of a page found. */
export interface Audit extends Recorded {
  readonly url: string
  readonly engine: string
  readonly faults: readonly AuditFault[]
  readonly passes: number
  readonly incomplete: number
}

/** The kinds of things that are kept in order, each in a buffer of its own. */
export interface Records {
  readonly logs: LogEntry
  readonly network: NetworkRequest
  readonly sockets: SocketEvent
  readonly actions: UserAction
  readonly snapshots: PerformanceSnapshot
  readonly audits: Audit
}

export type Kind = keyof Records
export const kinds = ['logs', 'network', 'sockets', 'actions', 'snapshots', 'audits'] as const satisfies readonly Kind[]
