/** Truncates a text to `limit` characters, the ellipsis included, without splitting a surrogate pair. */
export function truncate(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/u, '')}…` : text
}
