import type { Header, NetworkRequest } from '../../records/records.ts'
import type { HarCookie } from './cookies.ts'

/** HTTP Archive 1.2. */
export interface Har {
  readonly log: {
    readonly version: '1.2'
    readonly creator: { readonly name: string; readonly version: string }
    readonly browser?: { readonly name: string; readonly version: string }
    readonly pages: readonly HarPage[]
    readonly entries: readonly HarEntry[]
    readonly comment?: string
  }
}

export interface HarPage {
  readonly startedDateTime: string
  readonly id: string
  readonly title: string
  readonly pageTimings: { readonly onContentLoad: number; readonly onLoad: number }
}

export interface HarEntry {
  readonly pageref: string
  readonly startedDateTime: string
  readonly time: number
  readonly request: {
    readonly method: string
    readonly url: string
    readonly httpVersion: string
    readonly cookies: readonly HarCookie[]
    readonly headers: readonly Header[]
    readonly queryString: readonly Header[]
    readonly postData?: { readonly mimeType: string; readonly text: string; readonly comment?: string }
    readonly headersSize: -1
    readonly bodySize: number
  }
  readonly response: {
    readonly status: number
    readonly statusText: string
    readonly httpVersion: string
    readonly cookies: readonly HarCookie[]
    readonly headers: readonly Header[]
    readonly content: HarContent
    readonly redirectURL: string
    readonly headersSize: -1
    readonly bodySize: number
    readonly _transferSize: number
    /** Non-standard field for the failure reason, read by browser tools. */
    readonly _error: string | null
  }
  readonly cache: { readonly comment?: string }
  readonly timings: NetworkRequest['timings']
  readonly serverIPAddress?: string
  readonly _resourceType: string
}

export interface HarContent {
  readonly size: number
  readonly mimeType: string
  readonly text?: string
  readonly encoding?: 'base64'
  readonly comment?: string
}
