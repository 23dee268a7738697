import type { ServerInfo } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'

/** What an upstream said of itself when it was connected. */
export interface ServerDetails {
  readonly instructions?: string
  readonly info?: ServerInfo
}

/** What was last known of an upstream. */
export interface CachedUpstream extends ServerDetails {
  readonly tools: readonly Tool[]
}

/** Where a gateway keeps what it last knew of its upstreams. Drivers store and return; every decision is made by the caller. */
export interface CatalogStore extends AsyncDisposable {
  /** The tools in the order they were given; none for an upstream that is not known. */
  tools(upstream: string): Promise<readonly Tool[]>
  /** The same with what is known beside; `undefined` for an upstream that is not known, which differs from one without tools. */
  known(upstream: string): Promise<CachedUpstream | undefined>
  /** Forgets the tools that were known and keeps these, all or nothing. */
  replaceTools(upstream: string, tools: readonly Tool[], introduced?: ServerDetails): Promise<void>
  /** What it offers beside tools, as it was given; `undefined` when that is not known. */
  documents(upstream: string): Promise<unknown>
  replaceDocuments(upstream: string, documents: object): Promise<void>
  /** Forgets all that is known of it. */
  remove(upstream: string): Promise<void>
  /** Every upstream something is known of, sorted. */
  upstreams(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Whether a value from a store is a tool. */
export function isTool(value: unknown): value is Tool {
  return isRecord(value) && typeof value.name === 'string' && isRecord(value.inputSchema)
}

/** What an upstream said of itself, as far as a value from a store is that. Before there was more to keep, it was its instructions alone. */
export function parseServerDetails(value: unknown): ServerDetails {
  if (typeof value === 'string') return { instructions: value }
  if (!isRecord(value)) return {}
  const { instructions, info } = value
  return {
    ...(typeof instructions === 'string' && { instructions }),
    ...(isInfo(info) && { info }),
  }
}

const isInfo = (value: unknown): value is ServerInfo =>
  isRecord(value) &&
  typeof value.name === 'string' &&
  typeof value.version === 'string' &&
  [value.title, value.description, value.websiteUrl].every((each) => each === undefined || typeof each === 'string')
