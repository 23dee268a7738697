import type { Kind, LogEntry, LogLevel, NetworkRequest, Recorded, Records, NewRecord } from '../records/records.ts'

/** What is recorded at all. */
export interface Filters {
  /** Only addresses that contain one of these; every address when there are none. */
  readonly urls: readonly string[]
  /** No address that contains one of these. */
  readonly ignoreUrls: readonly string[]
  /** Only messages of these levels; every level when there are none. */
  readonly levels: readonly LogLevel[]
  /** Only requests of these types (document, script, fetch …); every type when there are none. */
  readonly types: readonly string[]
}

export const noFilters: Filters = { urls: [], ignoreUrls: [], levels: [], types: [] }

/** Whether these filters let the record in. */
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
