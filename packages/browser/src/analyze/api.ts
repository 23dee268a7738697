import type { EndpointSummary, Endpoints } from '../api/endpoints.ts'

export interface ApiOptions {
  /** Only endpoints whose URL contains this. */
  readonly contains?: string
  readonly limit?: number
  /** Number of endpoints to skip. */
  readonly offset?: number
}

/** Page of the known endpoints. */
export interface ApiAnalysis {
  readonly total: number
  readonly endpoints: readonly EndpointSummary[]
  /** `offset` of the next page. */
  readonly next?: number
  /** Number of endpoints dropped because of the limit. */
  readonly evicted?: number
}

const defaultEndpoints = 20
const maxEndpointsShown = 100

/** Lists the observed endpoints by URL. */
export function analyzeApi(
  endpoints: Endpoints,
  { contains, limit = defaultEndpoints, offset = 0 }: ApiOptions = {},
): ApiAnalysis {
  const all = endpoints.list()
  const wanted = contains === undefined ? all : all.filter(({ origin, path }) => `${origin}${path}`.includes(contains))
  const shown = wanted.slice(offset, offset + Math.min(limit, maxEndpointsShown))
  const next = offset + shown.length
  return {
    total: wanted.length,
    endpoints: shown,
    ...(next < wanted.length && { next }),
    ...(endpoints.evicted > 0 && { evicted: endpoints.evicted }),
  }
}
