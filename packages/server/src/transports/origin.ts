import { localhostAllowedHostnames, localhostAllowedOrigins, validateHostHeader } from '@modelcontextprotocol/server'
import { Failure, printable } from '@unfold-mcp/core'
import { failureReply } from '../wire/errors.ts'
import type { Exchange, Reply } from '../wire/exchange.ts'

/** Host and Origin checks, which protect against DNS rebinding and cross-site requests. */
export interface OriginRules {
  /** Allowed host names; `any` leaves the check to a proxy. Default: loopback. */
  readonly allowedHosts?: readonly string[] | 'any'
  /** Allowed origins (`https://app.example`) or host names. Requests without an Origin header are allowed. Default: loopback. */
  readonly allowedOrigins?: readonly string[] | 'any'
}

const loopbackHosts = localhostAllowedHostnames()
const loopbackOrigins = localhostAllowedOrigins()

/** Returns a 403 reply if the Host or Origin header is not allowed. */
export function refusedOrigin(
  exchange: Exchange,
  { allowedHosts = loopbackHosts, allowedOrigins = loopbackOrigins }: OriginRules,
): Reply | undefined {
  const host = exchange.header('host') ?? hostOf(exchange.url)
  if (allowedHosts !== 'any' && !validateHostHeader(host, [...allowedHosts]).ok) {
    const message = `Host "${printable(host)}" is not allowed. To allow it, add it to allowedHosts.`
    return failureReply(403, new Failure('forbidden_host', message, { host: printable(host) }), { code: -32000 })
  }
  const origin = exchange.header('origin')
  if (origin !== undefined && allowedOrigins !== 'any' && !allowsOrigin(origin, allowedOrigins)) {
    const message = `Origin "${printable(origin)}" is not allowed. To allow it, add it to allowedOrigins.`
    return failureReply(403, new Failure('forbidden_origin', message, { origin: printable(origin) }), { code: -32000 })
  }
  return undefined
}

/** A host name allows every scheme and port. */
function allowsOrigin(origin: string, allowed: readonly string[]): boolean {
  if (!URL.canParse(origin)) return false
  const { origin: normalized, hostname } = new URL(origin)
  return allowed.some((rule) =>
    rule.includes('://') ? URL.canParse(rule) && new URL(rule).origin === normalized : rule === hostname,
  )
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')
