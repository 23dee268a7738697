import type { Header } from '../records/records.ts'
import { type Found, marker } from './marker.ts'
import { isWorthHiding, secrecyOf, squashed } from './names.ts'

const schemes = new Set(
  'basic bearer digest token apikey negotiate ntlm dpop hawk hoba mutual aws4-hmac-sha256 scram-sha-256 vapid gnap'.split(' '),
)
const authorizations = new Set(['authorization', 'proxyauthorization'])
const attributes = new Set(['path', 'domain', 'expires', 'max-age', 'secure', 'httponly', 'samesite', 'priority', 'partitioned'])
const addresses = new Set(['referer', 'location', 'content-location', 'origin', ':path'])

interface Others {
  readonly text: (text: string) => string
  readonly url: (url: string) => string
}

/** The header without its secrets. What is in no secret header is read as any other text. */
export function hideHeader({ name, value }: Header, found: Found, { text, url }: Others): Header {
  const clean = hiddenValue(name, value)
  if (clean !== undefined) {
    if (clean !== value) found(/cookie/i.test(name) ? 'cookie' : 'header')
    return { name, value: clean }
  }
  return { name, value: addresses.has(name.toLowerCase()) ? url(value) : text(value) }
}

/** What may be kept of a value with such a name; nothing when the name is no secret's. */
function hiddenValue(name: string, value: string): string | undefined {
  const secrecy = secrecyOf(name)
  if (secrecy === 'no' || secrecy === 'long') return undefined
  return isWorthHiding(name, value) ? keptOf(name, value) : value
}

/** What may be kept of a secret: the scheme of an authorization, the names of cookies. */
export function keptOf(name: string, value: string): string {
  const word = squashed(name)
  if (authorizations.has(word)) return keptOfAuthorization(value)
  if (word === 'cookie' || word === 'cookies') return value.split(';').map(keptOfCookie).join(';')
  if (word === 'setcookie') return value.split('\n').map(keptOfSetCookie).join('\n')
  return marker
}

function keptOfAuthorization(value: string): string {
  const space = value.indexOf(' ')
  const scheme = space === -1 ? value : value.slice(0, space)
  if (!schemes.has(scheme.toLowerCase())) return marker
  return space === -1 ? value : `${scheme} ${marker}`
}

function keptOfCookie(cookie: string): string {
  const is = cookie.indexOf('=')
  if (is === -1) return cookie.trim() === '' || cookie.trim() === marker ? cookie : `${leadOf(cookie)}${marker}`
  return is === cookie.length - 1 ? cookie : `${cookie.slice(0, is + 1)}${marker}`
}

function keptOfSetCookie(line: string): string {
  const [cookie = '', ...rest] = line.split(';')
  const kept = rest.map((attribute) => (attributes.has(nameOf(attribute)) ? attribute : keptOfCookie(attribute)))
  return [keptOfCookie(cookie), ...kept].join(';')
}

const nameOf = (attribute: string): string => (attribute.split('=', 1)[0] ?? '').trim().toLowerCase()
const leadOf = (text: string): string => (text.startsWith(' ') ? ' ' : '')
