const prefix = 'unfold://'

/** Makes a URI or template unique by adding the server's slug. */
export const prefixedUri = (slug: string, uri: string): string => `${prefix}${slug}/${uri}`

/** Splits a prefixed URI; `undefined` for other URIs. */
export function parsePrefixedUri(uri: string): { readonly slug: string; readonly uri: string } | undefined {
  if (!uri.startsWith(prefix)) return undefined
  const end = uri.indexOf('/', prefix.length)
  return end === -1 ? undefined : { slug: uri.slice(prefix.length, end), uri: uri.slice(end + 1) }
}

/** A URI template, reduced to the literal text around its variables. */
export interface UriTemplate {
  readonly head: string
  readonly parts: readonly string[]
  /** `undefined` if the template has no variables. */
  readonly tail: string | undefined
}

export function parseTemplate(template: string): UriTemplate {
  const [head = '', ...parts] = literals(template)
  const tail = parts.pop()
  return { head, parts, tail }
}

/** True if the literal parts of a template occur in the URI in order. */
export function matchesTemplate({ head, parts, tail }: UriTemplate, uri: string): boolean {
  if (tail === undefined) return uri === head
  if (!uri.startsWith(head)) return false
  let at = head.length
  for (const part of parts) {
    const index = uri.indexOf(part, at)
    if (index === -1) return false
    at = index + part.length
  }
  return uri.length - tail.length >= at && uri.endsWith(tail)
}

/** True if some URI may match both templates, judged by their beginnings and ends. */
export function mayOverlap(one: UriTemplate, other: UriTemplate): boolean {
  if (one.tail === undefined) return matchesTemplate(other, one.head)
  if (other.tail === undefined) return matchesTemplate(one, other.head)
  const isStart = one.head.startsWith(other.head) || other.head.startsWith(one.head)
  return isStart && (one.tail.endsWith(other.tail) || other.tail.endsWith(one.tail))
}

function literals(template: string): string[] {
  const parts: string[] = []
  let at = 0
  for (let open = template.indexOf('{'); open !== -1; open = template.indexOf('{', at)) {
    const close = template.indexOf('}', open)
    if (close === -1) break
    parts.push(template.slice(at, open))
    at = close + 1
  }
  return [...parts, template.slice(at)]
}
