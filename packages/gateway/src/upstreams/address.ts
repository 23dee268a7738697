/** An address without its query and whatever else may be a secret in it; `undefined` for what is none. */
export function addressOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
