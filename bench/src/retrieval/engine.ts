import { type SearchDocument, SearchIndex } from '@unfold-mcp/core'

/** A search engine under test. */
export interface Engine {
  readonly name: string
  build(documents: Iterable<SearchDocument>): Promise<Searcher>
}

export interface Searcher {
  /** Returns the ids of the best matches, best first. */
  search(query: string, limit: number): Promise<readonly string[]> | readonly string[]
  /** Replaces the document with the same id. */
  readonly change?: (document: SearchDocument) => void
}

/** A variant of our own search. */
export interface Variant {
  readonly name: string
  /** Also search by meaning. */
  readonly meaning: boolean
}

/** The default first. */
export const variants: readonly [Variant, ...Variant[]] = [
  { name: 'Unfold, words + meaning', meaning: true },
  { name: 'Unfold, words', meaning: false },
]

export const unfold: readonly Engine[] = variants.map(({ name, meaning }) => ({
  name,
  async build(documents) {
    const index = new SearchIndex()
    for (const document of documents) index.set(document)
    return {
      search: (query, limit) => index.search(query, { limit, meaning }).matches.map(({ id }) => id),
      change: (document) => index.set(document),
    }
  },
}))

/** Returns all texts of a tool, with names also split into words, so that no library fails because of its tokenizer. */
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
