// Measures the built-in word table in a separate process: it is decoded only once, with the first tool.
import { SearchIndex } from '@unfold-mcp/core'
import { heldBytes } from './measure.ts'

/** Cost of the built-in word table. */
export interface TableCost {
  /** Time that the first tool takes longer than the next one. */
  readonly decodeMs: number
  /** Memory of the decoded table. */
  readonly bytes: number
}

const setMs = (): number => {
  const index = new SearchIndex()
  const start = performance.now()
  index.set({ id: 'create_issue', source: 'github', name: 'create_issue', description: 'Open an issue in a repository.' })
  return performance.now() - start
}

const before = heldBytes()
const firstMs = setMs()
const bytes = heldBytes() - before
process.send?.({ decodeMs: firstMs - setMs(), bytes } satisfies TableCost)
process.disconnect()
