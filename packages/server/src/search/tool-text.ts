import { createHash } from 'node:crypto'
import { documentOf, type Tool } from '@unfold-mcp/core'

// Small local models accept about 500 tokens.
const maxLength = 1_500
const hashes = new WeakMap<Tool, string>()

/** Returns the text of a tool to embed, of bounded length. */
export function toolText(tool: Tool): string {
  const { name, title, description = '', parameters = [] } = documentOf(tool, { source: '' })
  const heading = title === undefined ? spellOut(name) : `${title} (${spellOut(name)})`
  const inputs = parameters.map((parameter) =>
    [spellOut(parameter.name), parameter.description?.slice(0, 200)].filter(Boolean).join(': '),
  )
  return `${heading}\n${description.slice(0, 1_000)}\n${inputs.join('; ')}`.slice(0, maxLength)
}

/** Returns the hash of `toolText(tool)`. */
export function textHash(tool: Tool): string {
  const cached = hashes.get(tool)
  if (cached !== undefined) return cached
  const hash = createHash('sha256').update(toolText(tool)).digest('base64')
  hashes.set(tool, hash)
  return hash
}

/** Splits a name into words, which models understand better than identifiers. */
const spellOut = (name: string): string =>
  name
    .slice(0, 200)
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_.\-/]+/g, ' ')
