import type { ClusterResults } from './measure.ts'

/** A measured value with the one that it is expected to reach. */
interface Target {
  readonly what: string
  readonly value: string
  readonly target: string
  readonly isMet: boolean
}

export function targetsOf({ timings, notification, measured: { redis } }: ClusterResults): readonly Target[] {
  const p50 = (name: string): number => timings.find((timing) => timing.name === name)?.p50 ?? Number.NaN
  const ratio = (what: string): number => p50(`${what}, Redis`) / p50(`${what}, memory`)
  const row = (what: string, value: number, limit: number, unit: string): Target => ({
    what,
    value: `${value.toFixed(2)}${unit}`,
    target: `≤ ${limit}${unit}`,
    isMet: value <= limit,
  })
  return [
    row('list with Redis against memory, p50', ratio('list'), 1.1, '×'),
    row('call with Redis against memory, p50', ratio('call'), 1.25, '×'),
    row('notification on another replica, p95', notification.p95 / 1_000, 30, ' ms'),
    row('round trips to Redis per list', redis.operationsPerList, 0.5, ''),
    row('round trips to Redis per call', redis.operationsPerCall, 2, ''),
  ]
}

export function reportOf(results: ClusterResults): string {
  const { machine, timings, measured, fsync } = results
  const { replica, redis } = measured
  const micro = (seconds: number): string => `${Math.round(seconds * 1e6)} µs`
  const kilobytes = (bytes: number): string => `${(bytes / 1_024).toFixed(1)} KB`
  return [
    `Node ${machine.node}, ${machine.cores} cores, load ${machine.load.toFixed(1)} at the start. One client, 20 tools, append-only file, appendfsync ${fsync}.`,
    '',
    ...timings.map(
      ({ name, p50, p95 }) => `${name.padEnd(14)} p50 ${(p50 / 1_000).toFixed(2)} ms, p95 ${(p95 / 1_000).toFixed(2)} ms`,
    ),
    '',
    `replica        ${kilobytes(replica.bytesPerSession)} and ${micro(replica.cpuSecondsPerSession)} CPU per session, ${micro(replica.cpuSecondsPerCopy)} per copy of a session, ${micro(replica.cpuSecondsPerCall)} per call, ${micro(replica.cpuSecondsPerList)} per list`,
    `Redis          ${kilobytes(redis.bytesPerSession)} per session; ${redis.operationsPerSession.toFixed(1)} round trips per session, ${redis.operationsPerCopy.toFixed(1)} per copy, ${redis.operationsPerCall.toFixed(2)} per call, ${redis.operationsPerList.toFixed(2)} per list; ${micro(redis.cpuSecondsPerOperation)} CPU per command`,
    '',
    ...targetsOf(results).map(
      ({ what, value, target, isMet }) => `${isMet ? 'met   ' : 'missed'} ${what}: ${value} (target ${target})`,
    ),
  ].join('\n')
}
