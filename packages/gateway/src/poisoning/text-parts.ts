import { printable } from '@unfold-mcp/core'

/** A text of a definition, and where in it the text stands. */
export interface TextPart {
  readonly text: string
  readonly path: () => string
}

interface Node {
  readonly value: unknown
  readonly key: string | number
  readonly parent: Node | undefined
}

// In less there is no room for a message. Names of properties are longer where they are one.
const minTextLength = 8
const minNameLength = 12
const maxPathLength = 200

/** All texts of a definition, long names of properties among them, in no particular order. */
export function textPartsOf(definition: object): readonly TextPart[] {
  const found: TextPart[] = []
  // By a list and not by recursion, because how deep it goes is the server's choice.
  const open: Node[] = [{ value: definition, key: '', parent: undefined }]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const at = node
    const { value } = at
    if (typeof value === 'string' && value.length >= minTextLength) found.push({ text: value, path: () => pathOf(at) })
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      for (const [key, item] of value.entries()) open.push({ value: item, key, parent: at })
      continue
    }
    for (const [key, item] of Object.entries(value)) {
      const child = { value: item, key, parent: at }
      open.push(child)
      if (key.length >= minNameLength)
        found.push({ text: key.replaceAll(/[_-]/gu, ' '), path: () => `${pathOf(child)} (its name)` })
    }
  }
  return found
}

function pathOf(node: Node): string {
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
