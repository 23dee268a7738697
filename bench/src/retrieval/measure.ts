import type { Engine, Searcher } from './engine.ts'
import { meanOf, type Quality, qualityOf } from './metrics.ts'
import type { RetrievalSet } from './sets.ts'

/** Result of one engine on one set. */
export interface SetResult {
  readonly engine: string
  readonly set: string
  readonly queries: number
  readonly quality: Quality
  /** Share of tools with a unique name that rank first if the query is that name. */
  readonly exactName: number
  /** Share for queries of server and name, if the set has servers. */
  readonly exactServerAndName?: number
  /** Share of queries with matches after all needed tools were removed. */
  readonly answersAnyway: number
}

const maxNames = 200

export async function measure(engine: Engine, set: RetrievalSet): Promise<SetResult> {
  const searcher = await engine.build(set.documents)
  const sources = new Map(set.documents.map(({ id, source }) => [id, source]))
  const found: Quality[] = []
  let answered = 0
  for (const query of set.queries) {
    const gone = new Set(query.needs.flat().map((id) => sources.get(id)))
    const ids = await searcher.search(query.query, 10)
    found.push(qualityOf(ids, query))
    const isOther = (id: string): boolean => !gone.has(sources.get(id))
    if (ids.some(isOther) || (await searcher.search(query.query, 100)).some(isOther)) answered++
  }
  return {
    engine: engine.name,
    set: set.name,
    queries: set.queries.length,
    quality: meanOf(found),
    answersAnyway: answered / set.queries.length,
    ...(await exactNames(searcher, set)),
  }
}

async function exactNames(
  searcher: Searcher,
  { documents }: RetrievalSet,
): Promise<Pick<SetResult, 'exactName' | 'exactServerAndName'>> {
  const counts = new Map<string, number>()
  for (const { name } of documents) counts.set(name, (counts.get(name) ?? 0) + 1)
  const unique = documents.filter(({ name }) => counts.get(name) === 1)
  const some = unique.filter((_, index) => index % Math.ceil(unique.length / maxNames) === 0)
  const share = async (asked: readonly { readonly id: string; readonly query: string }[]): Promise<number> => {
    let first = 0
    for (const { id, query } of asked) if ((await searcher.search(query, 1))[0] === id) first++
    return first / asked.length
  }
  const served = some.flatMap(({ id, server, name }) => (server === undefined ? [] : [{ id, query: `${server} ${name}` }]))
  return {
    exactName: await share(some.map(({ id, name }) => ({ id, query: name }))),
    ...(served.length > 0 && { exactServerAndName: await share(served) }),
  }
}
