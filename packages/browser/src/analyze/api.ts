import type { EndpointSummary, Endpoints } from '../api/endpoints.ts'

export interface ApiOptions {
  /** Only endpoints whose address contains this. */
  readonly contains?: string
  readonly limit?: number
  /** How many to leave out before the first. */
  readonly offset?: number
}

/** A part of what is known of the API. */
export interface ApiAnalysis {
  readonly total: number
  readonly endpoints: readonly EndpointSummary[]
  /** The `offset` of the next part, when there is one. */
  readonly next?: number
  /** Endpoints that had to go because there were too many. */
  readonly evicted?: number
}

const defaultEndpoints = 20
const maxEndpointsShown = 100

/** The endpoints that were seen, by address. */
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
