/** Parts of a URI (RFC 3986, appendix B), without the fragment. */
const parts = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/u

interface Uri {
  readonly scheme: string | undefined
  readonly authority: string | undefined
  readonly path: string
  readonly query: string | undefined
}

/** Resolves a URI reference against a base (RFC 3986, section 5.2), without its fragment. Returns it unchanged if there is no base. */
export function absoluteUri(reference: string, base: string): string {
  const ref = parse(reference)
  if (ref.scheme !== undefined) return write({ ...ref, path: withoutDots(ref.path) })
  const from = parse(base)
  if (from.scheme === undefined) return reference
  if (ref.authority !== undefined) return write({ ...ref, scheme: from.scheme, path: withoutDots(ref.path) })
  if (ref.path === '') return write({ ...from, query: ref.query ?? from.query })
  const path = ref.path.startsWith('/') ? ref.path : `${from.path.slice(0, from.path.lastIndexOf('/') + 1)}${ref.path}`
  const rooted = from.authority !== undefined && !path.startsWith('/') ? `/${path}` : path
  return write({ ...from, path: withoutDots(rooted), query: ref.query })
}

function parse(text: string): Uri {
  const [, scheme, authority, path = '', query] = parts.exec(text) ?? []
  return { scheme: scheme?.toLowerCase(), authority: authority?.toLowerCase(), path, query }
}

function write({ scheme, authority, path, query }: Uri): string {
  const start = `${scheme === undefined ? '' : `${scheme}:`}${authority === undefined ? '' : `//${authority}`}`
  return `${start}${path === '' && authority !== undefined ? '/' : path}${query === undefined ? '' : `?${query}`}`
}

/** Resolves `.` and `..` in a path. */
function withoutDots(path: string): string {
  if (!path.startsWith('/')) return path
  const kept: string[] = []
  const segments = path.slice(1).split('/')
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  const last = segments.at(-1)
  return `/${kept.join('/')}${(last === '.' || last === '..') && kept.length > 0 ? '/' : ''}`
}
