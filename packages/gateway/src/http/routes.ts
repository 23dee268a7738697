import { Failure, printable } from '@unfold-mcp/core'
import type { Exchange, RequestHead } from '@unfold-mcp/server'
import { type ApiOptions, adminApi, apiPath, noDashboard } from '../admin/api.ts'
import { json, refusal, reply } from '../admin/reply.ts'
import type { Log } from '../base/log.ts'
import { mcpPath } from '../base/mcp-path.ts'
import type { DegradedPart } from '../observability/degraded-parts.ts'
import type { Metrics } from '../observability/metrics.ts'

export interface RouteOptions extends ApiOptions {
  readonly metrics: Metrics
  readonly log: Log
  /** True when the gateway listens beyond loopback. */
  readonly isPublic: boolean
  /** Handles requests from other replicas. */
  readonly forward?: ForwardRoute | undefined
}

/** Route for requests from other replicas, which checks their signature. */
export interface ForwardRoute {
  readonly path: string
  handle(request: Request, exchange: Exchange): Promise<Response>
}

/** Handles all paths outside the MCP endpoint: health, readiness, metrics, the dashboard and the admin API. */
export function routes(options: RouteOptions): (request: Request, exchange: Exchange) => Promise<Response> {
  const { metrics, gateway, authorization, isPublic, isReady, degraded, forward, log } = options
  const api = adminApi(options)
  // Without any token, every program on this machine can use every server, so their names and counts are no secret.
  const isOpen = (): boolean => !isPublic && gateway.config.tokens.length === 0
  const refusedMetrics = (head: RequestHead): Response | undefined => {
    const from = isOpen() ? undefined : authorization.authorize(head, 'metrics', '/metrics')
    return from instanceof Response ? from : undefined
  }
  const handlers: { readonly [path: string]: (head: RequestHead) => Response | Promise<Response> } = {
    '/healthz': () => json({ status: 'alive' }),
    '/readyz': () => (isReady() ? json(readiness(degraded())) : json({ status: 'not ready' }, { status: 503 })),
    '/metrics': async (head) =>
      refusedMetrics(head) ?? reply(await metrics.text(), { headers: { 'content-type': metrics.contentType } }),
  }
  const handle = async (request: Request, exchange: Exchange): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === apiPath || pathname.startsWith(`${apiPath}/`)) return api(request, exchange)
    const isPage = pathname === '/ui' || pathname.startsWith('/ui/')
    if (isPage && !options.hasDashboard) return refusal(404, noDashboard)
    // Loaded with the first request.
    if (isPage) return (await import('./dashboard.ts')).serveDashboard(exchange, new URL(request.url), options.pages)
    if (forward !== undefined && pathname === forward.path) return forward.handle(request, exchange)
    const handler = Object.hasOwn(handlers, pathname) ? handlers[pathname] : undefined
    if (handler === undefined) return notFound(pathname)
    if (request.method === 'GET' || request.method === 'HEAD') return handler(exchange)
    return refusal(405, 'Method not allowed. Use GET.', { allow: 'GET, HEAD' })
  }
  return async (request, exchange) => {
    try {
      return await handle(request, exchange)
    } catch (error) {
      log.error({ error }, 'request failed')
      return refusal(500, 'Internal error. Try the request again.')
    }
  }
}

// Public: names the degraded parts without details.
const readiness = (degraded: readonly DegradedPart[]): object =>
  degraded.length === 0 ? { status: 'ready' } : { status: 'degraded', degraded: degraded.map(({ part }) => part) }

function notFound(pathname: string): Response {
  const path = printable(pathname)
  const message = `Not found. MCP clients connect to ${mcpPath}; other paths are /healthz, /readyz, /metrics, /ui and ${apiPath}.`
  const { reason, details } = new Failure('unknown_path', message, { path })
  return json({ jsonrpc: '2.0', error: { code: -32000, message, data: { reason, ...details } }, id: null }, { status: 404 })
}
