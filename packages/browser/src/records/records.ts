/** Fields of every record. */
export interface Recorded {
  /** Sequence number across all kinds. */
  readonly seq: number
  /** Time in milliseconds since 1970. */
  readonly at: number
  /** Tab, such as `tab-1`. */
  readonly tab: string
}

/** Record before the recording assigns its sequence number. */
export type NewRecord<R extends Recorded> = Omit<R, 'seq'>

export type LogLevel = 'error' | 'warning' | 'info' | 'log' | 'debug'

/** Console message, uncaught exception, or browser message (a blocked request, a violation). */
export interface LogEntry extends Recorded {
  readonly level: LogLevel
  readonly from: 'console' | 'exception' | 'browser'
  readonly text: string
  /** Location in the code of the page. */
  readonly source?: { readonly url: string; readonly line: number; readonly column: number }
  readonly stack?: string
  /** URL of the page. */
  readonly url: string
}

/** Message body, possibly truncated. */
export interface Body {
  readonly mimeType: string
  /** Original size. */
  readonly bytes: number
  /** Text, or base64 for binary data. Absent if nothing is stored. */
  readonly text?: string
  readonly encoding?: 'base64'
  /** Only the beginning is stored. */
  readonly cut?: true
  /** Why nothing is stored. */
  readonly omitted?: string
}

export interface Header {
  readonly name: string
  readonly value: string
}

/** Completed or failed request. */
export interface NetworkRequest extends Recorded {
  readonly method: string
  readonly url: string
  /** Resource type: document, script, fetch, xhr, image … */
  readonly type: string
  readonly requestHeaders: readonly Header[]
  readonly requestBody?: Body
  /** 0 without a response. */
  readonly status: number
  readonly statusText: string
  readonly protocol: string
  readonly responseHeaders: readonly Header[]
  readonly responseBody?: Body
  readonly remoteAddress?: string
  readonly fromCache: boolean
  /** Why there is no response. */
  readonly failure?: string
  readonly redirectedTo?: string
  /** Start in milliseconds since 1970; `at` is the end. */
  readonly startedAt: number
  /** HAR timings in milliseconds; -1 for a phase that did not happen. */
  readonly timings: {
    readonly blocked: number
    readonly dns: number
    readonly connect: number
    readonly ssl: number
    readonly send: number
    readonly wait: number
    readonly receive: number
  }
  /** Transferred bytes. */
  readonly transferred: number
  /** URL of the page that made it. */
  readonly pageUrl: string
}

/** Request in progress. */
export interface PendingRequest {
  readonly method: string
  readonly url: string
  readonly type: string
  readonly startedAt: number
  readonly tab: string
}

/** Event on a WebSocket. */
export interface SocketEvent extends Recorded {
  readonly socket: string
  readonly url: string
  readonly event: 'opened' | 'sent' | 'received' | 'failed' | 'closed'
  /** Message, or reason of a failure or close. */
  readonly text?: string
  readonly encoding?: 'base64'
  readonly bytes: number
  readonly cut?: true
}

/** State of a WebSocket. */
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

/** Selectors of an element, in order of preference. */
export interface Selectors {
  readonly testId?: string
  readonly role?: { readonly role: string; readonly name: string }
  readonly label?: string
  readonly placeholder?: string
  readonly text?: string
  readonly css: string
  readonly xpath: string
}

/** User action or its effect. */
export interface UserAction extends Recorded {
  readonly action: 'click' | 'input' | 'select' | 'check' | 'key' | 'submit' | 'scroll' | 'navigation'
  /** URL of the page; for a navigation, the destination. */
  readonly url: string
  /** URL of the page that contains the frame. */
  readonly pageUrl?: string
  readonly selectors?: Selectors
  /** Typed or chosen value; absent with `secret`. */
  readonly value?: string
  readonly secret?: true
  readonly checked?: boolean
  readonly key?: string
  readonly scroll?: { readonly x: number; readonly y: number }
  /** Cause of a navigation: typed, link, form, reload, history, script (`pushState`) … */
  readonly cause?: string
}

/** Performance of a page from its start. Milliseconds, except `cls`. */
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

/** Accessibility violation of one rule on one or more elements. */
export interface AuditFault {
  /** Rule id, such as `image-alt`. */
  readonly rule: string
  readonly impact: 'minor' | 'moderate' | 'serious' | 'critical'
  readonly help: string
  readonly description: string
  readonly helpUrl: string
  readonly tags: readonly string[]
  readonly elements: readonly { readonly selector: string; readonly html: string; readonly summary: string }[]
  /** Total number of elements, if not all are stored. */
  readonly count: number
}

/** Result of an accessibility audit. */
export interface Audit extends Recorded {
  readonly url: string
  readonly engine: string
  readonly faults: readonly AuditFault[]
  readonly passes: number
  readonly incomplete: number
}

/** Record types by kind, each with its own buffer. */
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
