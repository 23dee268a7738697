import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { isInstalled, peersFolder } from '../peers/install.ts'
import { bm25 } from './bm25.ts'
import { type Engine, plainOf } from './engine.ts'

/** The compared libraries, each used as documented, with names weighted three times. */
export const peers: readonly Engine[] = [
  bm25,
  {
    name: 'MiniSearch',
    async build(documents) {
      const { default: MiniSearch } = await load<{ default: MiniSearchClass }>('minisearch')
      const index = new MiniSearch({ fields, searchOptions: { boost: weights } })
      index.addAll(Array.from(documents, plainOf))
      return {
        search: (query, limit) =>
          index
            .search(query)
            .slice(0, limit)
            .map(({ id }) => id),
      }
    },
  },
  {
    name: 'Orama',
    async build(documents) {
      const orama = await load<Orama>('@orama/orama')
      const index = orama.create({ schema: { id: 'string', ...Object.fromEntries(fields.map((field) => [field, 'string'])) } })
      await orama.insertMultiple(index, Array.from(documents, plainOf), 1_000)
      return {
        async search(query, limit) {
          // Match any word; by default all words must match.
          const { hits } = await orama.search(index, { term: query, limit, threshold: 1, properties: fields, boost: weights })
          return hits.map(({ document }) => document.id)
        },
      }
    },
  },
  {
    name: 'lunr',
    async build(documents) {
      const { default: lunr } = await load<{ default: Lunr }>('lunr')
      const all = Array.from(documents, plainOf)
      const index = lunr(function () {
        this.ref('id')
        for (const field of fields) this.field(field, { boost: weights[field] })
        for (const document of all) this.add(document)
      })
      return {
        search: (query, limit) =>
          index
            .query((clause) => clause.term(lunr.tokenizer(query), {}))
            .slice(0, limit)
            .map(({ ref }) => ref),
      }
    },
  },
  {
    name: 'wink-bm25',
    async build(documents) {
      const { default: create } = await load<{ default: () => Wink }>('wink-bm25-text-search')
      const { default: nlp } = await load<{ default: WinkUtils }>('wink-nlp-utils')
      const engine = create()
      engine.defineConfig({ fldWeights: weights })
      engine.definePrepTasks([
        nlp.string.lowerCase,
        nlp.string.removeExtraSpaces,
        nlp.string.tokenize0,
        nlp.tokens.removeWords,
        nlp.tokens.stem,
      ])
      for (const document of documents) {
        const { id, ...texts } = plainOf(document)
        engine.addDoc(texts, id)
      }
      engine.consolidate()
      return { search: (query, limit) => engine.search(query, limit).map(([id]) => id) }
    },
  },
]

const weights = { name: 3, server: 1, description: 1, parameters: 1 } as const
const fields = ['name', 'server', 'description', 'parameters'] as const

/** Installs missing libraries and returns the available ones. */
export function installedPeers(npm: string | undefined): readonly Engine[] {
  if (isInstalled('minisearch', npm)) return peers
  console.error('Search libraries are not available: measuring without them.')
  return [bm25]
}

async function load<Module>(name: string): Promise<Module> {
  const path = createRequire(new URL('package.json', peersFolder)).resolve(name)
  return await import(pathToFileURL(path).href)
}

// The used parts of each library, because their types are not installed during the type check.

type MiniSearchClass = new (
  options: object,
) => {
  addAll(documents: readonly object[]): void
  search(query: string): readonly { readonly id: string }[]
}

interface Orama {
  create(options: object): object
  insertMultiple(index: object, documents: readonly object[], batch: number): Promise<unknown>
  search(index: object, options: object): Promise<{ readonly hits: readonly { readonly document: { readonly id: string } }[] }>
}

interface LunrBuilder {
  ref(name: string): void
  field(name: string, options: object): void
  add(document: object): void
}

interface Lunr {
  (
    build: (this: LunrBuilder) => void,
  ): {
    query(build: (clause: { term(terms: unknown, options: object): void }) => void): readonly { readonly ref: string }[]
  }
  tokenizer(text: string): unknown
}

interface Wink {
  defineConfig(config: object): void
  definePrepTasks(tasks: readonly unknown[]): void
  addDoc(document: object, id: string): void
  consolidate(): void
  search(query: string, limit: number): readonly (readonly [id: string, score: number])[]
}

interface WinkUtils {
  readonly string: { readonly [task: string]: unknown }
  readonly tokens: { readonly [task: string]: unknown }
}
