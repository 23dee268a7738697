import { localhostAllowedHostnames, localhostAllowedOrigins, validateHostHeader } from '@modelcontextprotocol/server'
import { Failure, printable } from '@unfold-mcp/core'
import { failureReply } from '../wire/errors.ts'
import type { Exchange, Reply } from '../wire/exchange.ts'

/** By which names a server may be reached, and from whose pages. */
export interface OriginRules {
  /** Host names that requests may name; loopback ones by default, `any` to leave the check to whatever stands in front. */
  readonly allowedHosts?: readonly string[] | 'any'
  /** Origins (`https://app.example`) or host names that pages may ask from; loopback by default. No origin is let through. */
  readonly allowedOrigins?: readonly string[] | 'any'
}

const loopbackHosts = localhostAllowedHostnames()
const loopbackOrigins = localhostAllowedOrigins()

/** Keeps out pages of other sites: a browser that was tricked into asking names a host or an origin that is not ours. */
export function refusedOrigin(
  exchange: Exchange,
  { allowedHosts = loopbackHosts, allowedOrigins = loopbackOrigins }: OriginRules,
): Reply | undefined {
  const host = exchange.header('host') ?? hostOf(exchange.url)
  if (allowedHosts !== 'any' && !validateHostHeader(host, [...allowedHosts]).ok) {
    const message = `This server is not reached by the name "${printable(host)}". If it should be, add that name to allowedHosts.`
    return failureReply(403, new Failure('forbidden_host', message, { host: printable(host) }), { code: -32000 })
  }
  const origin = exchange.header('origin')
  if (origin !== undefined && allowedOrigins !== 'any' && !allowsOrigin(origin, allowedOrigins)) {
    const message = `Pages of "${printable(origin)}" may not use this server. If they should, add it to allowedOrigins.`
    return failureReply(403, new Failure('forbidden_origin', message, { origin: printable(origin) }), { code: -32000 })
  }
  return undefined
}

/** An allowed origin is written whole (`https://app.example`), or as a host name, which allows it on any scheme and port. */
function allowsOrigin(origin: string, allowed: readonly string[]): boolean {
  if (!URL.canParse(origin)) return false
  const { origin: whole, hostname } = new URL(origin)
  return allowed.some((each) => (each.includes('://') ? URL.canParse(each) && new URL(each).origin === whole : each === hostname))
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')
