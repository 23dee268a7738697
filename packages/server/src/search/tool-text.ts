import { createHash } from 'node:crypto'
import { documentOf, type Tool } from '@unfold-mcp/core'

// Small local models read about 500 tokens.
const longest = 1_500
const contents = new WeakMap<Tool, string>()

/** What an embedder reads of a tool: a bounded text, however large the definition is. */
export function toolText(tool: Tool): string {
  const { name, title, description = '', parameters = [] } = documentOf(tool, { source: '' })
  const called = title === undefined ? spelt(name) : `${title} (${spelt(name)})`
  const taken = parameters.map((each) => [spelt(each.name), each.description?.slice(0, 200)].filter(Boolean).join(': '))
  return `${called}\n${description.slice(0, 1_000)}\n${taken.join('; ')}`.slice(0, longest)
}

/** What stands for the text of a tool: the same for the same text, whatever tool it is of. */
export function contentOf(tool: Tool): string {
  const found = contents.get(tool)
  if (found !== undefined) return found
  const made = createHash('sha256').update(toolText(tool)).digest('base64')
  contents.set(tool, made)
  return made
}

/** A name as words: models read words better than code. */
const spelt = (name: string): string =>
  name
    .slice(0, 200)
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_.\-/]+/g, ' ')
