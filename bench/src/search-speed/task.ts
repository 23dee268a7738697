import type { SearchDocument } from '@unfold-mcp/core'
import { readDocuments, readSet, setNames } from '../retrieval/sets.ts'
import { generated, generatedQueries } from './catalogue.ts'

/** Returns the tools and queries of the catalogues in a folder; generated ones without a folder. */
export function readTask(folder: string | undefined): {
  readonly real: readonly SearchDocument[]
  readonly queries: readonly string[]
} {
  if (folder === undefined) return { real: generated(10_000), queries: generatedQueries(300) }
  const at = new URL(folder)
  const asked = setNames.flatMap((set) => readSet(at, set, 60).queries)
  return { real: readDocuments(at, 'toucan'), queries: asked.map(({ query }) => query) }
}
