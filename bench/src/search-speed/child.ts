// Measures one engine at one size in a separate process, for accurate memory numbers.
import { once } from 'node:events'
import { unfold } from '../retrieval/engine.ts'
import { peers } from '../retrieval/peers.ts'
import { measure, type Speed } from './measure.ts'
import { readTask } from './task.ts'

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
  const { real, queries } = readTask(folder)
  return await measure(engine, real, queries, { tools, maxMs })
}
