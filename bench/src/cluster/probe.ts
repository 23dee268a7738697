import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningUnfold } from '../gateway/gateways.ts'

/** Resources that a replica has used so far. */
export interface Usage {
  readonly cpuSeconds: number
  /** Resident memory. */
  readonly bytes: number
  /** Commands that it sent to Redis. */
  readonly operations: number
}

const ticksPerSecond = 100
const pageBytes = 4_096

export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /u, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

const bytesOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes

/** Reads what a replica has used. */
export async function usageOf({ pid = 0, home }: RunningUnfold): Promise<Usage> {
  const [file = ''] = readdirSync(join(home, 'run'))
  const { url, admin } = JSON.parse(readFileSync(join(home, 'run', file), 'utf8')) as { url: string; admin: string }
  const reply = await fetch(new URL('/api/status', url), { headers: { authorization: `Bearer ${admin}` } })
  const { cluster } = (await reply.json()) as { readonly cluster?: { readonly roundTrips: number } }
  return { cpuSeconds: cpuSecondsOf(pid), bytes: bytesOf(pid), operations: cluster?.roundTrips ?? 0 }
}

/** What was used between two readings, per unit. */
export function perUnit(before: Usage, after: Usage, units: number): Usage {
  return {
    cpuSeconds: (after.cpuSeconds - before.cpuSeconds) / units,
    bytes: (after.bytes - before.bytes) / units,
    operations: (after.operations - before.operations) / units,
  }
}
