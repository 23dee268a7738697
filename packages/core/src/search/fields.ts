import type { SearchDocument } from './document.ts'
import type { Reading } from './language/tokenizer.ts'

/** Field of a document, with its tokenization and weight. */
export interface Field {
  readonly name: FieldName
  readonly reading: Reading
  readonly weight: number
  /** Typical number of words. Fixed rather than the mean of the catalog, so that one tool never affects the score of another. */
  readonly usual: number
  /** Maximum number of words, so that length brings no advantage. */
  readonly limit: number
  readonly textsOf: (document: SearchDocument) => Iterable<string | undefined>
}

export type FieldName =
  | 'name'
  | 'title'
  | 'server'
  | 'group'
  | 'tags'
  | 'description'
  | 'serverDescription'
  | 'parameters'
  | 'parameterDescriptions'

export const fields: readonly Field[] = [
  { name: 'name', reading: 'name', weight: 3, usual: 3, limit: 32, textsOf: ({ name }) => [name] },
  { name: 'title', reading: 'name', weight: 2, usual: 3, limit: 32, textsOf: ({ title }) => [title] },
  { name: 'server', reading: 'name', weight: 1.5, usual: 2, limit: 16, textsOf: ({ server }) => [server] },
  { name: 'group', reading: 'name', weight: 1.5, usual: 2, limit: 16, textsOf: ({ group }) => [group] },
  { name: 'tags', reading: 'name', weight: 1.5, usual: 4, limit: 32, textsOf: ({ tags }) => tags ?? [] },
  { name: 'description', reading: 'prose', weight: 1, usual: 15, limit: 200, textsOf: ({ description }) => [description] },
  {
    name: 'serverDescription',
    reading: 'prose',
    weight: 0.6,
    usual: 12,
    limit: 60,
    textsOf: ({ serverDescription }) => [serverDescription],
  },
  {
    name: 'parameters',
    reading: 'prose',
    weight: 0.6,
    usual: 4,
    limit: 64,
    textsOf: ({ parameters }) => parameters?.map(({ name }) => name) ?? [],
  },
  {
    name: 'parameterDescriptions',
    reading: 'prose',
    weight: 0.6,
    usual: 30,
    limit: 200,
    textsOf: ({ parameters }) => parameters?.map(({ description }) => description) ?? [],
  },
]

/** A bit for each field that is not the same for all tools of a server. */
export const ownFields = fields.reduce(
  (mask, { name }, index) => (name === 'server' || name === 'group' || name === 'serverDescription' ? mask : mask | (1 << index)),
  0,
)
