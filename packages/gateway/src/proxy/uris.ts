const prefix = 'unfold://'

/** Makes a URI or template unique by adding the server's slug. */
export const prefixedUri = (slug: string, uri: string): string => `${prefix}${slug}/${uri}`

/** Splits a prefixed URI; `undefined` for other URIs. */
export function parsePrefixedUri(uri: string): { readonly slug: string; readonly uri: string } | undefined {
  if (!uri.startsWith(prefix)) return undefined
  const end = uri.indexOf('/', prefix.length)
  return end === -1 ? undefined : { slug: uri.slice(prefix.length, end), uri: uri.slice(end + 1) }
}

/** True if the literal parts of a template occur in the URI in order. */
export function matchesTemplate(template: string, uri: string): boolean {
  const [head = '', ...parts] = literals(template)
  const tail = parts.pop()
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

/** Length of the literal parts of a template. */
export const literalLength = (template: string): number => literals(template).join('').length

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
