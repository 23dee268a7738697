import { defineToolbox } from '@unfold-mcp/server'
import { testContext } from '@unfold-mcp/server/testing'
import { z } from 'zod'
import { median } from '../tokens/cost.ts'

/** Times within one process, without a transport. */
export interface Speed {
  /** A script that returns at once. */
  readonly startMs: number
  readonly startP95Ms: number
  /** The same with types. */
  readonly typedStartMs: number
  /** One of many calls in a row, made by a client and by a script. */
  readonly directCallMs: number
  readonly scriptCallMs: number
}

const callsPerScript = 200

export async function speed(rounds: number): Promise<Speed> {
  const toolbox = defineToolbox({ name: 'speed', version: '1.0.0', exposure: 'everything', code: true })
  toolbox.tool('echo', { description: 'Echo', input: z.object({ n: z.number() }), readOnly: true }, ({ n }) => ({ n }))
  await using client = await testContext(toolbox)
  const run = async (code: string): Promise<number> => {
    const started = performance.now()
    const result = await client.call('run_code', { code })
    if (result.isError === true) throw new Error(JSON.stringify(result.content))
    return performance.now() - started
  }
  const loop = `for (let n = 0; n < ${callsPerScript}; n++) await tools.echo({ n })`
  for (const code of ['return 1', 'return 1 as number', loop]) await run(code)
  const starts = await repeated(rounds, () => run('return 1'))
  const typed = await repeated(rounds, () => run('const one: number = 1\nreturn one'))
  const loops = await repeated(Math.ceil(rounds / 10), () => run(loop))
  const direct = await repeated(Math.ceil(rounds / 10), async () => {
    const started = performance.now()
    for (let n = 0; n < callsPerScript; n++) await client.call('echo', { n })
    return performance.now() - started
  })
  const startMs = median(starts)
  await toolbox.close()
  return {
    startMs,
    startP95Ms: starts.toSorted((a, b) => a - b)[Math.floor(starts.length * 0.95)] ?? 0,
    typedStartMs: median(typed),
    directCallMs: median(direct) / callsPerScript,
    scriptCallMs: (median(loops) - startMs) / callsPerScript,
  }
}

async function repeated(count: number, work: () => Promise<number>): Promise<readonly number[]> {
  const times: number[] = []
  for (let round = 0; round < count; round++) times.push(await work())
  return times
}
