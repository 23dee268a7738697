import type { NetworkRequest } from '../records/records.ts'
import { openapiOf } from './openapi.ts'
import { isJsonType, type Operation } from './operation.ts'
import { pathText, segmentsOf } from './path.ts'
import { locationOf, PathTree } from './path-tree.ts'
import { emptyShape } from './shape.ts'
import type { Schema } from './shape-schema.ts'
import { shapeText } from './shape-text.ts'

/** URL pattern with its operations. */
export interface EndpointSummary {
  readonly origin: string
  /** With `{id}` for variable segments. */
  readonly path: string
  readonly calls: number
  /** Sequence number of the first request. */
  readonly firstSeq: number
  readonly methods: readonly MethodSummary[]
}

/** One method of an endpoint. Shapes are written like types: `{ id: integer, tags?: string[] }`. */
interface MethodSummary {
  readonly method: string
  readonly calls: number
  readonly firstSeq: number
  readonly query?: string
  readonly requestTypes?: readonly string[]
  readonly requestBody?: string
  readonly answers: readonly AnswerSummary[]
  /** Calls without a response. */
  readonly failed?: number
  /** Truncated bodies, which have no shape. */
  readonly cutBodies?: number
  /** Authorization of calls: `bearer`, `cookie`, `header x-api-key`, `none` … */
  readonly auth: readonly string[]
  /** Milliseconds of the newest calls that were not served from a cache; `max` is of all. */
  readonly latency?: { readonly p50: number; readonly p95: number; readonly max: number }
}

interface AnswerSummary {
  readonly status: number
  readonly calls: number
  readonly contentTypes?: readonly string[]
  readonly body?: string
}

/** Maximum number of endpoints; the least recently used are dropped. */
export const maxEndpoints = 500
const maxNodes = 100_000

/** API of the page's servers, inferred from its traffic: endpoints, parameters, responses. */
export class Endpoints {
  readonly #tree = new PathTree()
  #places = 0
  #evicted = 0

  get size(): number {
    return this.#tree.size
  }

  /** Number of endpoints dropped because of the limits. */
  get evicted(): number {
    return this.#evicted
  }

  observe(request: NetworkRequest): void {
    if (!isApi(request) || !URL.canParse(request.url)) return
    const url = new URL(request.url)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return
    const node = this.#tree.node(url.origin, segmentsOf(url.pathname))
    const before = node.endpoint.places
    node.endpoint.observe(request, url)
    this.#places += node.endpoint.places - before
    this.#tree.settle(node)
    this.#bound()
  }

  clear(): void {
    this.#tree.clear()
    this.#places = 0
    this.#evicted = 0
  }

  /** Sorted by URL. */
  list(): readonly EndpointSummary[] {
    return this.#known().map(({ origin, path, endpoint }) => ({
      origin,
      path,
      calls: endpoint.calls,
      firstSeq: endpoint.firstSeq,
      methods: endpoint.operations.map(summaryOf),
    }))
  }

  /** Returns an OpenAPI 3.1 document for one origin. Default: the most frequently called one. */
  openapi(origin?: string): Schema {
    return openapiOf(this.#known(), origin)
  }

  #known() {
    const all = [...this.#tree].flatMap((node) => {
      const { origin, segments } = locationOf(node)
      return node.endpoint === undefined ? [] : [{ origin, segments, path: pathText(segments), endpoint: node.endpoint }]
    })
    return all.sort((a, b) => compare(a.origin, b.origin) || compare(a.path, b.path))
  }

  #bound(): void {
    if (this.#tree.size <= maxEndpoints && this.#places <= maxNodes) return
    // Merging shares nodes, so the size is counted again before anything is dropped.
    this.#places = [...this.#tree].reduce((sum, { endpoint }) => sum + (endpoint?.places ?? 0), 0)
    while (this.#tree.size > 1 && (this.#tree.size > maxEndpoints || this.#places > maxNodes)) {
      const { oldest } = this.#tree
      if (oldest === undefined) return
      this.#places -= oldest.endpoint?.places ?? 0
      this.#tree.remove(oldest)
      this.#evicted += 1
    }
  }
}

function isApi({ type, responseBody }: NetworkRequest): boolean {
  if (type === 'fetch' || type === 'xhr') return true
  return type !== 'manifest' && type !== 'preflight' && responseBody !== undefined && isJsonType(responseBody.mimeType)
}

function summaryOf(operation: Operation): MethodSummary {
  const { method, calls, firstSeq, query, request, requestTypes, failed, cutBodies, auth, latency } = operation
  return {
    method,
    calls,
    firstSeq,
    ...(query.object !== undefined && query.object.fields.size > 0 && { query: shapeText(query) }),
    ...(requestTypes.size > 0 && { requestTypes: [...requestTypes].sort() }),
    ...(request !== emptyShape && { requestBody: shapeText(request) }),
    answers: operation.answers.map(({ status, calls: answered, contentTypes, body }) => ({
      status,
      calls: answered,
      ...(contentTypes.length > 0 && { contentTypes }),
      ...(body !== emptyShape && { body: shapeText(body) }),
    })),
    ...(failed > 0 && { failed }),
    ...(cutBodies > 0 && { cutBodies }),
    auth: [...auth].sort(),
    ...(!latency.isEmpty && { latency: latency.summary() }),
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
