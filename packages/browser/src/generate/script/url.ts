import { isRedacted, literal } from './literal.ts'

// Longer URLs were truncated when recorded.
const maxCharacters = 4_000
const usable = new Set(['http:', 'https:', 'file:', 'about:', 'data:'])

/** Returns a URL that a script can open; otherwise `undefined`. */
export function addressOf(text: string): URL | undefined {
  if (text.length > maxCharacters || text.endsWith('…') || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (!usable.has(url.protocol)) return undefined
  url.username = ''
  url.password = ''
  return url
}

/** Returns code for a URL, relative to `base` on the same site, so that the script can run against another server. */
export function addressCode(url: URL, origin: string): string {
  if (url.origin !== origin || url.origin === 'null') return literal(url.href)
  return `at(${literal(url.href.slice(url.origin.length))})`
}

/** Returns code that checks the URL after a navigation. Variable parts match anything. */
export function arrivalCode(url: URL, cause: string | undefined, origin: string): string {
  const lasting = stablePart(url, cause)
  if (lasting === url) return `(url) => url.href === ${addressCode(url, origin)}`
  return `(url) => isLike(url.href, ${addressCode(lasting, origin)})`
}

/** Returns the stable part of a URL; the same object if all of it is stable. */
export function stablePart(url: URL, cause: string | undefined): URL {
  // The target of a link existed before; that of a form or script may be unique to this run.
  return cause === 'form' || cause === 'script' || isRedacted(url.href) ? generalizeUrl(url) : url
}

/** Replaces variable segments with `*` and drops the query; the same object if there are none. */
export function generalizeUrl(url: URL): URL {
  const parts = url.pathname.split('/')
  const pattern = parts.map((part) => (isVariable(part) ? '*' : part)).join('/')
  const isStable = pattern === url.pathname && !isRedacted(url.hash) && ![...url.searchParams.values()].some(isVariable)
  if (isStable) return url
  const like = new URL(url)
  like.pathname = pattern
  like.search = ''
  like.hash = ''
  return like
}

const variable = [
  /^\d+$/,
  /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i,
  /^(?=[\da-f]*\d)[\da-f]{12,}$/i,
  /^(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{20,}$/i,
]

function isVariable(part: string): boolean {
  return isRedacted(part) || variable.some((shape) => shape.test(part))
}
