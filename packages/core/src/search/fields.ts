import type { SearchDocument } from './document.ts'
import type { Reading } from './language/tokenizer.ts'

/** One part of a document: how it is read and how much a word in it counts. */
export interface Field {
  readonly name: FieldName
  readonly reading: Reading
  readonly weight: number
  /** The usual number of words. A fixed one, not the catalogue's mean: what one tool says then never moves another. */
  readonly usual: number
  /** Words after these are not read, so length buys nothing. */
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
