import { Failure, printable } from '@unfold-mcp/core'
import { isSameToken, presentedToken } from '../access/admin-token.ts'
import { type ApiOptions, adminApi, apiPath } from '../admin/api.ts'
import { json, refusal, reply } from '../admin/reply.ts'
import type { Log } from '../base/log.ts'
import { mcpPath } from '../base/mcp-path.ts'
import { verifyToken } from '../config/tokens.ts'
import type { DegradedPart } from '../observability/degraded-parts.ts'
import type { Metrics } from '../observability/metrics.ts'

export interface RouteOptions extends ApiOptions {
  readonly metrics: Metrics
  readonly log: Log
  /** True when the gateway listens beyond loopback. */
  readonly isPublic: boolean
}

/** Handles all paths outside the MCP endpoint: health, readiness, metrics and the admin API. */
export function routes(options: RouteOptions): (request: Request) => Promise<Response> {
  const { metrics, gateway, admin, isPublic, isReady, degraded, log } = options
  const api = adminApi(options)
  const mayReadMetrics = (request: Request): boolean => {
    const { tokens } = gateway.config
    if (!isPublic && tokens.length === 0) return true
    const presented = presentedToken(request.headers.get('authorization') ?? undefined)
    return presented !== undefined && (isSameToken(presented, admin) || verifyToken(presented, tokens) !== undefined)
  }
  const handlers: { readonly [path: string]: (request: Request) => Response | Promise<Response> } = {
    '/healthz': () => json({ status: 'alive' }),
    '/readyz': () => (isReady() ? json(readiness(degraded())) : json({ status: 'not ready' }, { status: 503 })),
    '/metrics': async (request) =>
      mayReadMetrics(request)
        ? reply(await metrics.text(), { headers: { 'content-type': metrics.contentType } })
        : refusal(401, 'Metrics require a token. Send it as Authorization: Bearer <token>.', {
            'www-authenticate': 'Bearer',
          }),
  }
  const handle = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === apiPath || pathname.startsWith(`${apiPath}/`)) return api(request)
    const handler = Object.hasOwn(handlers, pathname) ? handlers[pathname] : undefined
    if (handler === undefined) return notFound(pathname)
    if (request.method === 'GET' || request.method === 'HEAD') return handler(request)
    return refusal(405, 'Method not allowed. Use GET.', { allow: 'GET, HEAD' })
  }
  return async (request) => {
    try {
      return await handle(request)
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
  const message = `Not found. MCP clients connect to ${mcpPath}; other paths are /healthz, /readyz, /metrics and ${apiPath}.`
  const { reason, details } = new Failure('unknown_path', message, { path })
  return json({ jsonrpc: '2.0', error: { code: -32000, message, data: { reason, ...details } }, id: null }, { status: 404 })
}
