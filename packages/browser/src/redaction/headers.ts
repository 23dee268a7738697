import type { Header } from '../records/records.ts'
import { marker, type OnRedacted } from './marker.ts'
import { isSensitiveValue, normalizeName, secrecyOf } from './names.ts'

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

/** Redacts a header. Non-secret headers are treated as text. */
export function redactHeader({ name, value }: Header, onRedacted: OnRedacted, { text, url }: Others): Header {
  const clean = hiddenValue(name, value)
  if (clean !== undefined) {
    if (clean !== value) onRedacted(/cookie/i.test(name) ? 'cookie' : 'header')
    return { name, value: clean }
  }
  return { name, value: addresses.has(name.toLowerCase()) ? url(value) : text(value) }
}

/** Returns the redacted value; `undefined` if the name is not secret. */
function hiddenValue(name: string, value: string): string | undefined {
  const secrecy = secrecyOf(name)
  if (secrecy === 'no' || secrecy === 'long') return undefined
  return isSensitiveValue(name, value) ? visiblePart(name, value) : value
}

/** Returns the visible part of a secret: the scheme of an authorization, the names of cookies. */
export function visiblePart(name: string, value: string): string {
  const word = normalizeName(name)
  if (authorizations.has(word)) return visibleAuthorization(value)
  if (word === 'cookie' || word === 'cookies') return value.split(';').map(visibleCookie).join(';')
  if (word === 'setcookie') return value.split('\n').map(visibleSetCookie).join('\n')
  return marker
}

function visibleAuthorization(value: string): string {
  const space = value.indexOf(' ')
  const scheme = space === -1 ? value : value.slice(0, space)
  if (!schemes.has(scheme.toLowerCase())) return marker
  return space === -1 ? value : `${scheme} ${marker}`
}

function visibleCookie(cookie: string): string {
  const is = cookie.indexOf('=')
  if (is === -1) return cookie.trim() === '' || cookie.trim() === marker ? cookie : `${leadOf(cookie)}${marker}`
  return is === cookie.length - 1 ? cookie : `${cookie.slice(0, is + 1)}${marker}`
}

function visibleSetCookie(line: string): string {
  const [cookie = '', ...rest] = line.split(';')
  const kept = rest.map((attribute) => (attributes.has(nameOf(attribute)) ? attribute : visibleCookie(attribute)))
  return [visibleCookie(cookie), ...kept].join(';')
}

const nameOf = (attribute: string): string => (attribute.split('=', 1)[0] ?? '').trim().toLowerCase()
const leadOf = (text: string): string => (text.startsWith(' ') ? ' ' : '')
