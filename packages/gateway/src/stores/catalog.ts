import type { ServerInfo } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'

/** What an upstream reported when it connected. */
export interface ServerDetails {
  readonly instructions?: string
  readonly info?: ServerInfo
}

export interface CachedUpstream extends ServerDetails {
  readonly tools: readonly Tool[]
}

/** Cache of the upstreams' definitions. Drivers only store and return; the caller makes all decisions. */
export interface CatalogStore extends AsyncDisposable {
  /** Tools in their original order; empty for an unknown upstream. */
  tools(upstream: string): Promise<readonly Tool[]>
  /** Tools and details; `undefined` for an unknown upstream. */
  load(upstream: string): Promise<CachedUpstream | undefined>
  /** Replaces all tools atomically. */
  replaceTools(upstream: string, tools: readonly Tool[], details?: ServerDetails): Promise<void>
  /** Prompts and resources as they were stored; `undefined` for an unknown upstream. */
  documents(upstream: string): Promise<unknown>
  replaceDocuments(upstream: string, documents: object): Promise<void>
  remove(upstream: string): Promise<void>
  /** Names of all stored upstreams, sorted. */
  upstreams(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Validates stored details. Earlier versions stored only the instructions. */
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
