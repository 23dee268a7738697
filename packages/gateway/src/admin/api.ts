import { decodeUri, isFailure, nearest, nearestHint, printable, toolTokens } from '@unfold-mcp/core'
import type { Exchange } from '@unfold-mcp/server'
import { ApprovalsUnavailable } from '../approvals/unavailable.ts'
import { errorMessage } from '../base/error-message.ts'
import { logLevels, rankOf } from '../base/log.ts'
import { DataLost } from '../cluster/epoch.ts'
import { RedisUnavailable } from '../cluster/redis.ts'
import type { ConfigProblem } from '../config/problem.ts'
import type { Role } from '../config/schema.ts'
import type { JournalEntry } from '../observability/journal.ts'
import { approvalReport, parseApproval } from './approvals.ts'
import { type AuditTrail, auditRecords } from './audit/audit-trail.ts'
import type { Administrator, Authorization } from './authorization.ts'
import { parseBody } from './body.ts'
import type { AdminCalls } from './calls.ts'
import { clientView, viewQuery, visibility } from './client-view.ts'
import { type EditReview, parseEditDecision } from './edits.ts'
import type { EventStreams } from './event-stream.ts'
import { connectableHosts } from './hosts.ts'
import { isFromOwnPage, presentedSession, sessionCookie } from './pages/cookie.ts'
import type { PageSessions } from './pages/sessions.ts'
import { json, refusal } from './reply.ts'
import { parseDecision, reviewItems } from './review.ts'
import { documentsOf } from './servers/documents.ts'
import { parseSettings, type SettingsEditor, SettingsError } from './servers/settings.ts'
import type { ServerSignIns } from './servers/sign-in.ts'
import { ToolHistory } from './servers/tool-history.ts'
import { gatewayStatus, type StatusSources, toolReports, upstreamReports } from './status.ts'
import { CallUsage } from './usage.ts'

export const apiPath = '/api'

/** Outcome of reading the configuration file again. */
export interface ReloadResult {
  readonly isApplied: boolean
  readonly problems: readonly ConfigProblem[]
}

export interface ApiOptions extends StatusSources {
  readonly authorization: Authorization
  readonly events: EventStreams
  readonly reload: () => Promise<ReloadResult>
  readonly edits: EditReview
  readonly pages: PageSessions
  /** `listen.dashboard` when the gateway started. */
  readonly hasDashboard: boolean
  readonly calls: AdminCalls
  readonly settings: SettingsEditor
  readonly signIns?: ServerSignIns | undefined
  readonly trail: AuditTrail
}

export const noDashboard = 'The dashboard is disabled: "listen.dashboard" is false in the configuration.'

type Route = (url: URL, request: RouteRequest, name: string) => Response | Promise<Response>

interface RouteRequest {
  readonly request: Request
  readonly exchange: Exchange
  readonly from: Administrator
}

/** Role that a route requires. */
function requiredRole(method: string, path: string): Role {
  if (path === '/links' || (method === 'POST' && /\/(?:settings|sign-in)$/u.test(path))) return 'admin'
  if (method === 'GET' || method === 'HEAD' || path === '/session') return 'viewer'
  return ['/review', '/edits', '/approvals'].includes(path) ? 'reviewer' : 'operator'
}

/** The admin API below `/api`, for the user who runs the gateway. */
export function adminApi(options: ApiOptions): (request: Request, exchange: Exchange) => Promise<Response> {
  const { authorization, events, gateway, journal, redactor, clients, reload, edits, pages, calls, settings, trail } = options
  const usage = new CallUsage(journal)
  const history = new ToolHistory(gateway.upstreams, redactor)
  const entries = (records: readonly JournalEntry[]): Response => json(records.map(({ id, at, data }) => ({ id, at, ...data })))
  const ifKnown = (name: string, respond: () => Response): Response =>
    gateway.upstreams.get(name) === undefined ? unknownUpstream(name, gateway.upstreams.names) : respond()
  const signIn = async (exchange: Exchange): Promise<Response> => {
    if (!options.hasDashboard) return refusal(404, noDashboard)
    if (!isFromOwnPage(exchange)) return refusal(403, 'Send the header x-unfold-csrf from a page of the gateway.')
    const { token } = parseBody(await exchange.body(maxSignInBytes))
    if (typeof token !== 'string' || token.length > 1_000) return refusal(400, 'The body must be { token }.')
    const id = authorization.signIn(exchange, token)
    return id instanceof Response ? id : json({}, { headers: { 'set-cookie': sessionCookie(exchange, id) } })
  }
  const routes: { readonly [route: string]: Route } = {
    'GET /status': async () => json(await gatewayStatus(options)),
    'GET /upstreams': async () => json(await upstreamReports(options)),
    'GET /upstreams/*': async (_url, _request, name) => {
      const all = await upstreamReports(options)
      return ifKnown(name, () => json(all.find((upstream) => upstream.name === name)))
    },
    'POST /upstreams/*/restart': (_url, _request, name) => {
      const [problem] = gateway.notStarted.get(name) ?? []
      if (problem !== undefined)
        return refusal(409, `server "${printable(name)}" is not started: ${redactor.text(problem.message)}`)
      return ifKnown(name, () => {
        if (gateway.upstreams.get(name)?.state === 'disabled')
          return refusal(409, `server "${printable(name)}" is disabled. Enable it with "unfold enable ${printable(name)}".`)
        gateway.upstreams.restart(name)
        return json({ restarted: name })
      })
    },
    'GET /upstreams/*/settings': async (_url, _request, name) => {
      const found = await settings.read(name)
      return found === undefined ? unknownUpstream(name, Object.keys(gateway.config.mcpServers)) : json(found)
    },
    'POST /upstreams/*/settings': async (_url, { exchange, from }, name) => {
      const asked = parseSettings(await exchange.body(maxDecisionBytes))
      if (asked === undefined)
        return refusal(400, 'The body must be { changes: [{ path: [key], value }], dryRun }. Without a value, a key is removed.')
      const result = await settings.write(name, asked)
      // The file watcher would apply it as well, but later than the reply.
      if (result.isWritten) {
        const by = from.token === undefined ? 'admin' : `token:${from.token}`
        const keys = result.differences.map(({ path }) => path)
        const message = `settings of ${printable(name)} edited: ${keys.join(', ')} (${by})`
        journal.write('log', { level: 'info', message, upstream: name, data: { by, keys } })
        await reload()
      }
      return json(redactor.data(result))
    },
    'POST /upstreams/*/sign-in': async (_url, { from }, name) => {
      if (gateway.upstreams.get(name) === undefined) return unknownUpstream(name, gateway.upstreams.names)
      const by = from.token === undefined ? 'admin' : `token:${from.token}`
      const address = await options.signIns?.begin(name, by)
      return address === undefined
        ? refusal(409, `server "${printable(name)}" does not wait for a sign-in, or this gateway cannot start one.`)
        : json({ url: address.href })
    },
    'GET /documents': (url) => {
      const name = url.searchParams.get('upstream') ?? ''
      return ifKnown(name, () => json(redactor.data(documentsOf(gateway, name))))
    },
    'GET /history': (url) => json(history.of(url.searchParams.get('upstream'))),
    'POST /mcp': (_url, { request, exchange, from }) => calls.handle(request, exchange, from),
    'GET /audit': limited(async (limit) => json(redactor.data(await auditRecords(trail, limit)))),
    'GET /audit/verify': async () => json(redactor.data(await trail.verify())),
    'GET /tools': async (url) => {
      const upstream = url.searchParams.get('upstream')
      return json((await toolReports(options)).filter((tool) => upstream === null || tool.upstream === upstream))
    },
    'GET /tools/*': (_url, _request, name) => {
      const entry = gateway.source.entries().find(({ tool }) => tool.name === name)
      if (entry === undefined) return refusal(404, `Unknown tool "${printable(name)}".`)
      const { tool, source: upstream } = entry
      const original = gateway.source.originalName(upstream, name) ?? name
      return json({ name, upstream, tool: original, tokens: toolTokens(tool), definition: redactor.data(tool) })
    },
    'GET /view': async (url) => json(redactor.data(await clientView(gateway, viewQuery(url.searchParams)))),
    'GET /why': async (url) => {
      const tool = url.searchParams.get('tool') ?? ''
      if (tool === '') return refusal(400, 'The query must have the parameter "tool".')
      return json(redactor.data(await visibility(gateway, tool, viewQuery(url.searchParams))))
    },
    'GET /usage': () => json(usage.report(gateway, (id) => redactor.name(id))),
    'GET /review': (url) => json(redactor.data(reviewItems(gateway, url.searchParams.get('upstream')))),
    'POST /review': async (_url, { exchange, from }) => {
      const decision = parseDecision(await exchange.body(maxDecisionBytes))
      if (decision === undefined)
        return refusal(
          400,
          'The body must be { server, decision: "approve" or "block", digests: [...] }. GET /api/review lists the digests.',
        )
      const { server, digests } = decision
      if (gateway.upstreams.get(server) === undefined) return unknownUpstream(server, gateway.upstreams.names)
      const by = from.token === undefined ? 'terminal' : `token:${from.token}`
      const decided = await gateway.trust[decision.decision](server, new Set(digests), by)
      return json({ decided })
    },
    'GET /edits': () => json(edits.list()),
    'POST /edits': async (_url, { exchange, from }) => {
      const decision = parseEditDecision(await exchange.body(maxDecisionBytes))
      if (decision === undefined)
        return refusal(400, 'The body must be { approve: [...], reject: [...] }. GET /api/edits lists the digests.')
      const decided = await edits.decide(decision, from.token === undefined ? 'admin' : `token:${from.token}`)
      return json({ decided: decided.length })
    },
    'GET /approvals': async () => json((await gateway.approvals.list()).map(approvalReport)),
    'POST /approvals': async (_url, { exchange, from }) => {
      const given = parseApproval(await exchange.body(maxDecisionBytes))
      if (given === undefined)
        return refusal(
          400,
          'The body must be { id, decision: "once", "session", "always", "deny" or "revoke" }. GET /api/approvals lists the ids.',
        )
      const by = from.token === undefined ? 'terminal' : `token:${from.token}`
      const decided = await gateway.approvals.decide(given.id, given.decision, { by })
      if (decided !== undefined) return json({ id: given.id, decision: given.decision })
      return refusal(409, 'There is nothing to decide: the call was answered or withdrawn, expired, or has no session.')
    },
    'GET /trust': limited((limit, url) => entries(journal.last('trust', limit, fromUpstream(url)))),
    'GET /changes': limited((limit, url) => entries(journal.last('change', limit, fromUpstream(url)))),
    'GET /calls': limited((limit, url) => entries(journal.last('call', limit, fromUpstream(url)))),
    'GET /logs': limited((limit, url) => {
      const minRank = rankOf(url.searchParams.get('level') ?? 'info')
      if (minRank === -1) return refusal(400, `Unknown log level. Use one of: ${logLevels.join(', ')}.`)
      const matches = fromUpstream(url)
      return entries(journal.last('log', limit, (record) => rankOf(record.level) >= minRank && matches(record)))
    }),
    'GET /stderr': limited((limit, url) => entries(journal.last('stderr', limit, fromUpstream(url)))),
    'GET /clients': () => json(clients()),
    'GET /hosts': () => json(connectableHosts(gateway, options.transport === 'http' ? options.url() : '')),
    'GET /savings': async () => json(await gateway.savings()),
    'GET /events': (_url, { request, from }) => events.open(request, from),
    'POST /links': () => {
      if (!options.hasDashboard) return refusal(404, noDashboard)
      const { code, expiresAt } = pages.createLink()
      const link = new URL(`/ui/?code=${code}`, options.url())
      return json({ url: link.href, expiresAt: new Date(expiresAt).toISOString() })
    },
    'GET /session': (_url, { from: { token, role } }) => json({ ...(token !== undefined && { token }), role }),
    'POST /session': (_url, { exchange }) => signIn(exchange),
    'DELETE /session': (_url, { exchange }) => {
      pages.signOut(presentedSession(exchange) ?? '')
      events.dismiss()
      return json({}, { headers: { 'set-cookie': sessionCookie(exchange, undefined) } })
    },
    'POST /reload': async () => {
      const { isApplied, problems } = await reload()
      return json({ isApplied, problems: redactor.data(problems) })
    },
  }
  return async (request, exchange) => {
    const url = new URL(request.url)
    if (request.method === 'POST' && url.pathname === `${apiPath}/session`) return signIn(exchange)
    const role = requiredRole(request.method, url.pathname.slice(apiPath.length))
    const what = role === 'viewer' ? 'The admin API' : 'Changing the state of the gateway'
    const from = authorization.authorize(exchange, role, what)
    if (from instanceof Response) return from
    const { route, name } = routeOf(request.method, url.pathname.slice(apiPath.length))
    const handler = Object.hasOwn(routes, route) ? routes[route] : undefined
    if (handler !== undefined) {
      try {
        return await handler(url, { request, from, exchange }, name)
      } catch (error) {
        // The query describes a client that does not exist.
        if (isFailure(error) && ['/view', '/why'].includes(url.pathname.slice(apiPath.length))) return refusal(404, error.message)
        if (route.endsWith('/sign-in')) return refusal(502, redactor.text(errorMessage(error)))
        if (error instanceof SettingsError) return refusal(409, redactor.text(error.message))
        if (!isUnavailable(error)) throw error
        return refusal(503, redactor.text(errorMessage(error)))
      }
    }
    const path = route.slice(route.indexOf(' '))
    const methods = ['GET', 'POST', 'DELETE'].filter((method) => Object.hasOwn(routes, `${method}${path}`))
    if (methods.length > 0) return refusal(405, `Method not allowed. Use ${methods.join(' or ')}.`, { allow: methods.join(', ') })
    return refusal(404, `Not found. Routes below ${apiPath}: ${Object.keys(routes).join(', ')}.`)
  }
}

function routeOf(requestMethod: string, path: string): { readonly route: string; readonly name: string } {
  const [, kind = '', name = '', rest = ''] = /^\/(upstreams|tools)\/([^/]+)(\/restart|\/settings|\/sign-in)?$/u.exec(path) ?? []
  const method = requestMethod === 'HEAD' ? 'GET' : requestMethod
  return name === '' ? { route: `${method} ${path}`, name } : { route: `${method} /${kind}/*${rest}`, name: decodeUri(name) }
}

/** The state that the replicas share cannot be read or written. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof ApprovalsUnavailable || error instanceof RedisUnavailable || error instanceof DataLost

const maxEntries = 1_000
const maxSignInBytes = 10_000
const maxDecisionBytes = 1_048_576

const limited =
  (respond: (limit: number, url: URL) => Response | Promise<Response>): Route =>
  (url) => {
    const text = url.searchParams.get('limit') ?? '100'
    const limit = /^\d{1,6}$/u.test(text) ? Number(text) : 0
    return limit === 0 ? refusal(400, 'limit must be a positive integer.') : respond(Math.min(limit, maxEntries), url)
  }

function fromUpstream(url: URL): (record: { readonly upstream?: string }) => boolean {
  const filter = url.searchParams.get('upstream')
  return ({ upstream }) => filter === null || upstream === filter
}

function unknownUpstream(name: string, names: readonly string[]): Response {
  return refusal(404, `Unknown server "${printable(name)}".${nearestHint(nearest(name, names))}`)
}
