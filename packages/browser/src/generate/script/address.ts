import { isRedacted, literal } from './literal.ts'

// Longer ones could not be cut without leading elsewhere, and one that was cut ends in a mark.
const maxCharacters = 4_000
const usable = new Set(['http:', 'https:', 'file:', 'about:', 'data:'])

/** An address that a script can go to; nothing when it cannot. */
export function addressOf(text: string): URL | undefined {
  if (text.length > maxCharacters || text.endsWith('…') || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (!usable.has(url.protocol)) return undefined
  url.username = ''
  url.password = ''
  return url
}

/** The address as code: below `base` when it is the site's own, so that the script can run against another server. */
export function addressCode(url: URL, origin: string): string {
  if (url.origin !== origin || url.origin === 'null') return literal(url.href)
  return `at(${literal(url.href.slice(url.origin.length))})`
}

/** Code that says whether the browser is where a navigation led. Parts that differ from run to run may be anything. */
export function arrivalCode(url: URL, cause: string | undefined, origin: string): string {
  const lasting = stablePart(url, cause)
  if (lasting === url) return `(url) => url.href === ${addressCode(url, origin)}`
  return `(url) => isLike(url.href, ${addressCode(lasting, origin)})`
}

/** What stays the same of an address that was arrived at; the same object when all of it does. */
export function stablePart(url: URL, cause: string | undefined): URL {
  // What a link says was there before; what a form or a script led to may have been made for this one time.
  return cause === 'form' || cause === 'script' || isRedacted(url.href) ? generalizeUrl(url) : url
}

/** The address with `*` for each part that differs from run to run, without its query; the same object when there is none. */
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
