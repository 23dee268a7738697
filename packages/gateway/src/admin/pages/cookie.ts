import type { RequestHead } from '@unfold-mcp/server'

// Cookies do not differ by port, so gateways on the same machine need different names.
const cookieName = (head: RequestHead): string =>
  `unfold_session_${/:(\d{1,5})$/u.exec(head.header('host') ?? '')?.[1] ?? 'default'}`

/** Returns the session id in the cookie of a page. */
export function presentedSession(head: RequestHead): string | undefined {
  const name = cookieName(head)
  for (const pair of (head.header('cookie') ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value !== undefined && value !== '') return value.slice(0, 100)
  }
  return undefined
}

/** Returns the `Set-Cookie` header that signs a browser in; without an id, out. */
export function sessionCookie(head: RequestHead, id: string | undefined): string {
  const lifetime = id === undefined ? '; Max-Age=0' : ''
  // With Secure, a browser on plain HTTP would drop the cookie, so a header of an untrusted peer must not set it.
  const secure = head.isSecure === true ? '; Secure' : ''
  return `${cookieName(head)}=${id ?? ''}; Path=/; HttpOnly; SameSite=Strict${lifetime}${secure}`
}

/** Header that only a page of the same origin can send: other origins need a preflight, which the gateway refuses. */
const csrfHeader = 'x-unfold-csrf'

/** True if the request was sent by a script of the gateway's own page. */
export function isFromOwnPage(head: RequestHead): boolean {
  if (head.header(csrfHeader) === undefined) return false
  const site = head.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin') return false
  const origin = head.header('origin')
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === withoutDefaultPort(origin, head.header('host') ?? '')
}

const withoutDefaultPort = (origin: string, host: string): string =>
  host.replace(origin.startsWith('https:') ? /:443$/u : /:80$/u, '').toLowerCase()
