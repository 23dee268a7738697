import { nearest, nearestHint, printable } from '@unfold-mcp/core'
import { isSameToken, presentedToken } from '../access/admin-token.ts'
import { logLevels, rankOf } from '../base/log.ts'
import type { ConfigProblem } from '../config/problem.ts'
import type { JournalEntry } from '../observability/journal.ts'
import type { EventStreams } from './event-stream.ts'
import { json, refusal } from './reply.ts'
import { gatewayStatus, toolsOf, upstreamReports, type StatusSources } from './status.ts'

export const apiPath = '/api'

/** What became of reading the configuration file again. */
export interface ReloadResult {
  readonly isApplied: boolean
  readonly problems: readonly ConfigProblem[]
}

export interface ApiOptions extends StatusSources {
  /** What opens it. No token of the configuration does. */
  readonly admin: string
  readonly events: EventStreams
  readonly reload: () => Promise<ReloadResult>
}

type Route = (url: URL, request: Request, name: string) => Response | Promise<Response>

/** Answers whoever runs the gateway, and nobody else. */
export function adminApi(options: ApiOptions): (request: Request) => Promise<Response> {
  const { admin, events, gateway, journal, secrets, clients, reload } = options
  const entries = (found: readonly JournalEntry[]): Response => json(found.map(({ id, at, data }) => ({ id, at, ...data })))
  const known = (name: string, found: () => Response): Response =>
    gateway.upstreams.get(name) === undefined ? unknownUpstream(name, gateway.upstreams.names) : found()
  const routes: { readonly [route: string]: Route } = {
    'GET /status': async () => json(await gatewayStatus(options)),
    'GET /upstreams': async () => json(await upstreamReports(options)),
    'GET /upstreams/*': async (_url, _request, name) => {
      const all = await upstreamReports(options)
      return known(name, () => json(all.find((upstream) => upstream.name === name)))
    },
    'POST /upstreams/*/restart': (_url, _request, name) => {
      const [problem] = gateway.held.get(name) ?? []
      if (problem !== undefined)
        return refusal(409, `server "${printable(name)}" is not started: it ${secrets.text(problem.message)}`)
      return known(name, () => {
        if (gateway.upstreams.get(name)?.state === 'disabled')
          return refusal(409, `server "${printable(name)}" is disabled. Enable it with "unfold enable ${printable(name)}".`)
        gateway.upstreams.restart(name)
        return json({ restarted: name })
      })
    },
    'GET /tools': async (url) => {
      const upstream = url.searchParams.get('upstream')
      return json((await toolsOf(options)).filter((tool) => upstream === null || tool.upstream === upstream))
    },
    'GET /changes': limited((limit, url) => entries(journal.last('change', limit, isOf(url)))),
    'GET /calls': limited((limit, url) => entries(journal.last('call', limit, isOf(url)))),
    'GET /logs': limited((limit, url) => {
      const from = rankOf(url.searchParams.get('level') ?? 'info')
      if (from === -1) return refusal(400, `There is no such level. There are ${logLevels.join(', ')}.`)
      const isOne = isOf(url)
      return entries(journal.last('log', limit, (record) => rankOf(record.level) >= from && isOne(record)))
    }),
    'GET /stderr': limited((limit, url) => entries(journal.last('stderr', limit, isOf(url)))),
    'GET /clients': () => json(clients()),
    'GET /savings': async () => json(await gateway.savings()),
    'GET /events': (_url, request) => events.answer(request),
    'POST /reload': async () => {
      const { isApplied, problems } = await reload()
      return json({ isApplied, problems: secrets.data(problems) })
    },
  }
  return async (request) => {
    const presented = presentedToken(request.headers.get('authorization') ?? undefined)
    if (presented === undefined || !isSameToken(presented, admin)) {
      const message =
        'This is for whoever runs the gateway. Use the command line (unfold status), or send the token of its run file as Authorization: Bearer <token>.'
      return refusal(401, message, { 'www-authenticate': 'Bearer realm="administration"' })
    }
    const url = new URL(request.url)
    const { route, name } = routeOf(request.method, url.pathname.slice(apiPath.length))
    const found = Object.hasOwn(routes, route) ? routes[route] : undefined
    if (found !== undefined) return found(url, request, name)
    const path = route.slice(route.indexOf(' '))
    const methods = ['GET', 'POST'].filter((method) => Object.hasOwn(routes, `${method}${path}`))
    if (methods.length > 0) return refusal(405, `Use ${methods.join(' or ')} here.`, { allow: methods.join(', ') })
    return refusal(404, `There is nothing here. There are ${Object.keys(routes).join(', ')} below ${apiPath}.`)
  }
}

/** The route that a path belongs to, and the name of the server in it. */
function routeOf(method: string, path: string): { readonly route: string; readonly name: string } {
  const [, name = '', rest = ''] = /^\/upstreams\/([^/]+)(\/restart)?$/u.exec(path) ?? []
  const asked = method === 'HEAD' ? 'GET' : method
  return name === '' ? { route: `${asked} ${path}`, name } : { route: `${asked} /upstreams/*${rest}`, name: decoded(name) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const maxEntries = 1_000

const limited =
  (answer: (limit: number, url: URL) => Response): Route =>
  (url) => {
    const text = url.searchParams.get('limit') ?? '100'
    const limit = /^\d{1,6}$/u.test(text) ? Number(text) : 0
    return limit === 0 ? refusal(400, 'limit is a whole number above 0.') : answer(Math.min(limit, maxEntries), url)
  }

function isOf(url: URL): (record: { readonly upstream?: string }) => boolean {
  const wanted = url.searchParams.get('upstream')
  return ({ upstream }) => wanted === null || upstream === wanted
}

function unknownUpstream(name: string, names: readonly string[]): Response {
  return refusal(404, `There is no server "${printable(name)}" here.${nearestHint(nearest(name, names))}`)
}
