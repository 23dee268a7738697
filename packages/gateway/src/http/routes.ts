import { Failure, printable } from '@unfold-mcp/core'
import { isSameToken, presentedToken } from '../access/admin-token.ts'
import { type ApiOptions, adminApi, apiPath } from '../admin/api.ts'
import { json, refusal, reply } from '../admin/reply.ts'
import type { Log } from '../base/log.ts'
import { mcpPath } from '../base/mcp-path.ts'
import { verifyToken } from '../config/tokens.ts'
import type { DegradedPart } from '../observability/degraded.ts'
import type { Metrics } from '../observability/metrics.ts'

export interface RouteOptions extends ApiOptions {
  readonly metrics: Metrics
  readonly log: Log
  /** Whether others than programs of this machine can ask. */
  readonly isPublic: boolean
}

/** Answers everything beside MCP: whether it is alive, ready, its numbers, and its administration. */
export function routes(options: RouteOptions): (request: Request) => Promise<Response> {
  const { metrics, gateway, admin, isPublic, isReady, degraded, log } = options
  const api = adminApi(options)
  const mayMeasure = (request: Request): boolean => {
    const { tokens } = gateway.config
    if (!isPublic && tokens.length === 0) return true
    const presented = presentedToken(request.headers.get('authorization') ?? undefined)
    return presented !== undefined && (isSameToken(presented, admin) || verifyToken(presented, tokens) !== undefined)
  }
  const known: { readonly [path: string]: (request: Request) => Response | Promise<Response> } = {
    '/healthz': () => json({ status: 'alive' }),
    '/readyz': () => (isReady() ? json(readiness(degraded())) : json({ status: 'not ready' }, { status: 503 })),
    '/metrics': async (request) =>
      mayMeasure(request)
        ? reply(await metrics.text(), { headers: { 'content-type': metrics.contentType } })
        : refusal(401, 'The numbers of this gateway are for those who have a token. Send it: Authorization: Bearer <token>.', {
            'www-authenticate': 'Bearer',
          }),
  }
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === apiPath || pathname.startsWith(`${apiPath}/`)) return api(request)
    const found = Object.hasOwn(known, pathname) ? known[pathname] : undefined
    if (found === undefined) return nowhere(pathname)
    if (request.method === 'GET' || request.method === 'HEAD') return found(request)
    return refusal(405, 'Use GET here.', { allow: 'GET, HEAD' })
  }
  return async (request) => {
    try {
      return await answer(request)
    } catch (error) {
      log.error({ error }, 'A request could not be answered.')
      return refusal(500, 'The gateway failed while answering. It goes on; the request may be tried again.')
    }
  }
}

/** What is said to anybody: which parts it does without, and no more. */
const readiness = (degraded: readonly DegradedPart[]): object =>
  degraded.length === 0 ? { status: 'ready' } : { status: 'degraded', without: degraded.map(({ part }) => part) }

function nowhere(pathname: string): Response {
  const path = printable(pathname)
  const message = `There is nothing here. MCP clients connect to ${mcpPath}; beside it there are /healthz, /readyz, /metrics and ${apiPath}.`
  const { reason, details } = new Failure('unknown_path', message, { path })
  return json({ jsonrpc: '2.0', error: { code: -32000, message, data: { reason, ...details } }, id: null }, { status: 404 })
}
