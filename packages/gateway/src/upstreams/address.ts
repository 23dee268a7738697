/** A URL without credentials and query, which may contain secrets; `undefined` if it is invalid. */
export function publicUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
