// Measures one engine at one size in a separate process, for accurate memory numbers.
import { once } from 'node:events'
import { unfold } from '../retrieval/engine.ts'
import { peers } from '../retrieval/peers.ts'
import { readDocuments, readSet, setNames } from '../retrieval/sets.ts'
import { generated, generatedQueries } from './catalogue.ts'
import { measure, type Speed } from './measure.ts'

/** Request to the child process. */
export interface Order {
  readonly engine: string
  readonly tools: number
  readonly maxMs: number
  /** Folder of the catalogues, if present. */
  readonly folder?: string
}

const [order] = (await once(process, 'message')) as [Order]
process.send?.(await speedOf(order))
process.disconnect()

async function speedOf({ engine: name, tools, maxMs, folder }: Order): Promise<Speed> {
  const engine = [...unfold, ...peers].find((each) => each.name === name)
  if (engine === undefined) throw new Error(`unknown engine: ${name}`)
  const at = folder === undefined ? undefined : new URL(folder)
  const real = at === undefined ? generated(10_000) : readDocuments(at, 'toucan')
  const asked = at === undefined ? [] : setNames.flatMap((set) => readSet(at, set, 60).queries)
  const queries = at === undefined ? generatedQueries(300) : asked.map(({ query }) => query)
  return await measure(engine, real, queries, { tools, maxMs })
}
