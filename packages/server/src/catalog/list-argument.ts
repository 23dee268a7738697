/**
 * Converts these arguments to lists: some hosts send an array as JSON text, and models send a single name. Anything else is left
 * for the schema to reject.
 */
export function withLists(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  const given = value as { readonly [name: string]: unknown }
  const texts = names.filter((name) => typeof given[name] === 'string')
  if (texts.length === 0) return value
  return { ...given, ...Object.fromEntries(texts.map((name) => [name, listOf(given[name] as string)])) }
}

function listOf(text: string): readonly unknown[] {
  const trimmed = text.trim()
  if (trimmed === '') return []
  if (!trimmed.startsWith('[')) return [text]
  try {
    const parsed: unknown = JSON.parse(trimmed)
    return Array.isArray(parsed) ? parsed : [text]
  } catch {
    return [text]
  }
}
