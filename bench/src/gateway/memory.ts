import { execFileSync } from 'node:child_process'
import type { Running } from './gateways.ts'
import type { Wire } from './wires/wire.ts'

/** Memory in bytes of a gateway and its helper processes, without the upstreams. */
export interface Weight {
  readonly name: string
  readonly alone: number
  readonly busy: number
}

export const clientCount = 100

/** Measures the memory before and after many clients connected, received changes and listed; `undefined` if not supported. */
export async function weighGateways(all: readonly Running[]): Promise<readonly Weight[] | undefined> {
  const weights: Weight[] = []
  try {
    for (const running of all) {
      const alone = weightOf(running)
      const wires: Wire[] = []
      try {
        for (let index = 0; index < clientCount; index++) {
          const wire = await running.client()
          wires.push(wire)
          await wire.ask('tools/list')
        }
        weights.push({ name: running.name, alone, busy: weightOf(running) })
      } finally {
        for (const wire of wires) await wire[Symbol.asyncDispose]()
      }
    }
    return weights
  } catch (error) {
    console.error(`Memory not measured: ${String(error)}`)
    return undefined
  }
}

function weightOf({ pid = 0, upstreams }: Running): number {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
  const processes = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/u).map(Number) as [pid: number, parent: number, kilobytes: number])
  const foreign = new Set(upstreams.names.map((name) => upstreams.pid(name)))
  const own = new Set([pid])
  // Children may be listed before their parents, so this repeats until no process is added.
  for (let before = 0; before < own.size; ) {
    before = own.size
    for (const [each, parent] of processes) if (own.has(parent) && !foreign.has(each)) own.add(each)
  }
  return processes.filter(([each]) => own.has(each)).reduce((sum, [, , kilobytes]) => sum + kilobytes * 1_024, 0)
}
