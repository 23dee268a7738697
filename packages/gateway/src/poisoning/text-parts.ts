import { printable } from '@unfold-mcp/core'

export interface TextPart {
  readonly text: string
  readonly path: () => string
}

/** A value inside a definition. */
export interface Node {
  readonly value: unknown
  readonly key: string | number
  readonly parent: Node | undefined
}

// Shorter texts cannot carry a message.
const minTextLength = 8
const minNameLength = 12
const maxPathLength = 200

/** Collects all texts of a definition, including long property names, in no particular order. */
export function textPartsOf(definition: object): readonly TextPart[] {
  const parts: TextPart[] = []
  // Not recursive: the server chooses the depth.
  const pending: Node[] = [{ value: definition, key: '', parent: undefined }]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const at = node
    const { value } = at
    if (typeof value === 'string' && value.length >= minTextLength) parts.push({ text: value, path: () => pathOf(at) })
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      for (const [key, item] of value.entries()) pending.push({ value: item, key, parent: at })
      continue
    }
    for (const [key, item] of Object.entries(value)) {
      const child = { value: item, key, parent: at }
      pending.push(child)
      if (key.length >= minNameLength)
        parts.push({ text: key.replaceAll(/[_-]/gu, ' '), path: () => `${pathOf(child)} (property name)` })
    }
  }
  return parts
}

/** Returns the location of a value, such as `inputSchema.properties.path.description`. */
export function pathOf(node: Node): string {
  const parts: string[] = []
  let length = 0
  for (let at: Node | undefined = node; at?.parent !== undefined && length <= maxPathLength; at = at.parent) {
    const part = typeof at.key === 'number' ? `[${at.key}]` : `.${printable(at.key, 60)}`
    parts.push(part)
    length += part.length
  }
  const path = parts.toReversed().join('')
  return length > maxPathLength ? `…${path.slice(-maxPathLength)}` : path.replace(/^\./u, '')
}
