import { type SearchDocument, SearchIndex } from '@unfold-mcp/core'

/** A way to search that is measured. */
export interface Engine {
  readonly name: string
  build(documents: Iterable<SearchDocument>): Promise<Searcher>
}

export interface Searcher {
  /** The ids of the best tools, best first. */
  search(query: string, limit: number): Promise<readonly string[]> | readonly string[]
  /** Takes a document in place of the one with the same id. */
  readonly change?: (document: SearchDocument) => void
}

export const unfold: Engine = {
  name: 'Unfold',
  async build(documents) {
    const index = new SearchIndex()
    for (const document of documents) index.set(document)
    return {
      search: (query, limit) => index.search(query, { limit }).matches.map(({ id }) => id),
      change: (document) => index.set(document),
    }
  },
}

/** What a library gets of a tool: every text there is, names also taken apart, so that none fails for want of a tokenizer. */
export interface PlainDocument {
  readonly id: string
  readonly name: string
  readonly server: string
  readonly description: string
  readonly parameters: string
}

export function plainOf({
  id,
  name,
  server = '',
  serverDescription = '',
  description = '',
  parameters = [],
}: SearchDocument): PlainDocument {
  return {
    id,
    name: withParts(name),
    server: `${withParts(server)} ${serverDescription}`,
    description,
    parameters: parameters.map((each) => `${withParts(each.name)} ${each.description ?? ''}`).join(' '),
  }
}

function withParts(name: string): string {
  const parts = name.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ').replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
  return parts === name ? name : `${name} ${parts}`
}
