import { isRecord } from '@unfold-mcp/core'

/** Replaces a text at a path; returns the same text to keep it. */
export type ReplaceText = (text: string, path: string) => string

// Servers choose the depth; no real result comes close.
const maxDepth = 100

/**
 * Replaces the texts of a result: content, embedded resources, structured content, messages, metadata. Base64 data and the names of
 * properties are kept. Returns the same object if nothing changed, and calls `onTooDeep` for values that are nested too deeply.
 */
export function replaceTexts<T>(value: T, replace: ReplaceText, onTooDeep: () => void): T {
  const visit = (item: unknown, path: string, depth: number): unknown => {
    if (typeof item === 'string') return replace(item, path)
    if (!Array.isArray(item) && !isRecord(item)) return item
    if (depth >= maxDepth) {
      onTooDeep()
      return item
    }
    if (Array.isArray(item)) return visitItems(item, path, depth)
    let copy: Record<string, unknown> | undefined
    for (const [key, each] of Object.entries(item)) {
      if (isBinary(item, key)) continue
      const next = visit(each, path === '' ? key : `${path}.${key}`, depth + 1)
      if (next === each) continue
      copy ??= { ...item }
      copy[key] = next
    }
    return copy ?? item
  }
  const visitItems = (items: readonly unknown[], path: string, depth: number): readonly unknown[] => {
    const next = items.map((each, at) => visit(each, `${path}[${at}]`, depth + 1))
    return next.every((each, at) => each === items[at]) ? items : next
  }
  return visit(value, '', 0) as T
}

/** Images, audio and files in base64. */
const isBinary = (item: Record<string, unknown>, key: string): boolean =>
  (key === 'data' && (item.type === 'image' || item.type === 'audio')) || (key === 'blob' && typeof item.uri === 'string')
