import type { Kind, LogEntry, LogLevel, NetworkRequest, NewRecord, Recorded, Records } from '../records/records.ts'

/** Filters for recording. */
export interface Filters {
  /** Only URLs that contain one of these; empty: all. */
  readonly urls: readonly string[]
  /** No URLs that contain one of these. */
  readonly ignoreUrls: readonly string[]
  /** Only messages of these levels; empty: all. */
  readonly levels: readonly LogLevel[]
  /** Only requests of these types (document, script, fetch …); empty: all. */
  readonly types: readonly string[]
}

export const noFilters: Filters = { urls: [], ignoreUrls: [], levels: [], types: [] }

export function matchesFilters<K extends Kind>(filters: Filters, kind: K, record: NewRecord<Records[K]>): boolean {
  if (filters === noFilters) return true
  const { urls, ignoreUrls, levels, types } = filters
  const { url } = record as Partial<Recorded> & { readonly url?: string }
  if (url !== undefined) {
    if (urls.length > 0 && !urls.some((part) => url.includes(part))) return false
    if (ignoreUrls.some((part) => url.includes(part))) return false
  }
  if (kind === 'logs' && levels.length > 0) return levels.includes((record as unknown as LogEntry).level)
  if (kind === 'network' && types.length > 0) return types.includes((record as unknown as NetworkRequest).type)
  return true
}
