const prefix = 'unfold://'

/** The address of a resource of one server among several that use the same; also of a template. It can be read back. */
export const prefixedUri = (slug: string, uri: string): string => `${prefix}${slug}/${uri}`

/** The server and its own address that an address was made from; `undefined` for one that was not. */
export function parsePrefixedUri(uri: string): { readonly slug: string; readonly uri: string } | undefined {
  if (!uri.startsWith(prefix)) return undefined
  const end = uri.indexOf('/', prefix.length)
  return end === -1 ? undefined : { slug: uri.slice(prefix.length, end), uri: uri.slice(end + 1) }
}

/** Whether an address can have come from a template: what stands outside of `{…}` stands in it, in this order. */
export function matchesTemplate(template: string, uri: string): boolean {
  const [head = '', ...parts] = literals(template)
  const tail = parts.pop()
  if (tail === undefined) return uri === head
  if (!uri.startsWith(head)) return false
  let at = head.length
  for (const part of parts) {
    const found = uri.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return uri.length - tail.length >= at && uri.endsWith(tail)
}

/** How much of a template stands in every address that comes from it. */
export const literalLength = (template: string): number => literals(template).join('').length

function literals(template: string): string[] {
  const found: string[] = []
  let at = 0
  for (let open = template.indexOf('{'); open !== -1; open = template.indexOf('{', at)) {
    const close = template.indexOf('}', open)
    if (close === -1) break
    found.push(template.slice(at, open))
    at = close + 1
  }
  return [...found, template.slice(at)]
}
