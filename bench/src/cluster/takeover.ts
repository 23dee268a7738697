import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { sampleArguments } from '../gateway/definitions.ts'
import { type RunningUnfold, unfold } from '../gateway/gateways.ts'
import { filled } from '../gateway/life.ts'
import { UpstreamSet } from '../gateway/upstreams.ts'
import { streamableWire } from '../gateway/wires/streamable.ts'
import { successful } from '../gateway/wires/wire.ts'
import { startRedis } from './redis.ts'

export const leaseMs = 3_000

const environment = { UNFOLD_CLUSTER_SECRET: 'a secret of more than thirty-two characters' }
const pollMs = 20

/** Measures how long a server with `"placement": "one"` cannot be called after its replica was killed, in milliseconds. */
export async function timeTakeovers(rounds: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(await takeover())
  return times
}

async function takeover(): Promise<number> {
  await using redis = await startRedis('everysec')
  await using set = await UpstreamSet.of(1, 20)
  const options = {
    environment: { ...environment, UNFOLD_CLUSTER_URL: redis.url },
    cluster: { leaseMs },
    placement: 'one' as const,
  }
  await using first = await unfold.start(set, options)
  await filled(first)
  await using second = await unfold.start(set, options)
  await filled(second)
  const [server = ''] = set.names
  const [holder, other] = isDescendant(set.pid(server), first.pid) ? [first, second] : [second, first]
  await using wire = await streamableWire(other.url)
  const call = async (): Promise<unknown> =>
    successful(await wire.ask('tools/call', { name: other.toolName(server, 'action_7'), arguments: sampleArguments }))
  await call()
  const begin = performance.now()
  process.kill(pidOf(holder), 'SIGKILL')
  for (;;) {
    try {
      await call()
      return performance.now() - begin
    } catch {
      await pause(pollMs)
    }
  }
}

function pidOf({ pid }: RunningUnfold): number {
  if (pid === undefined) throw new Error('The gateway did not start.')
  return pid
}

/** A guard process is between the replica and the server. */
function isDescendant(pid: number | undefined, ancestor: number | undefined): boolean {
  for (let each = pid ?? 0; each > 1; each = parentOf(each)) if (each === ancestor) return true
  return false
}

const parentOf = (pid: number): number =>
  Number(
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /u, '')
      .split(' ')[1],
  )
