import type { Sample, Soak } from './soak.ts'

/** Servers in the larger of the two configurations. */
const maxServers = 3
// Connections that happen to be idle at one of the two measurements.
const spareDescriptors = 4
/** Growth of a run that had time to settle. */
const maxGrowth = 0.1
const settledMinute = 5
// In a short run, caches and compiled code still grow: by up to 3 MB in the first few hundred actions, then by 1 MB in 4,000. An old version
// with a leak grew by about 30 kB per action.
const warmUpBytes = 4_000_000
const warmUpBytesPerAction = 3_000

/** Returns the leaks that a soak shows; empty if there are none. */
export function leaksOf({ samples, leftServers }: Soak): readonly string[] {
  const last = samples.at(-1)
  if (last === undefined) return ['no measurement']
  const isShort = last.minute < 2 * settledMinute
  const settled = samples.filter(({ minute }) => minute >= (isShort ? last.minute / 3 : settledMinute))
  const first = settled[0] ?? last
  const actions = last.actions - first.actions
  const grownBytes = isShort ? bytesPerAction(settled) * actions : last.memoryBytes - first.memoryBytes
  const limitBytes = isShort ? warmUpBytes + warmUpBytesPerAction * actions : first.memoryBytes * maxGrowth
  const leaks: string[] = []
  if (grownBytes > limitBytes)
    leaks.push(
      `memory grew by ${megabytes(grownBytes)} in ${actions} actions, from ${megabytes(first.memoryBytes)} (limit: ${megabytes(limitBytes)})`,
    )
  if ((last.descriptors ?? 0) > (first.descriptors ?? 0) + spareDescriptors)
    leaks.push(`file descriptors grew from ${first.descriptors} to ${last.descriptors}`)
  if (last.servers > maxServers) leaks.push(`${last.servers} server processes, at most ${maxServers} are configured`)
  if (leftServers.length > 0) leaks.push(`server processes outlived the gateway: ${leftServers.join(', ')}`)
  return leaks
}

/**
 * Returns the trend of the memory: the median of the slopes between any two samples, which a single high or low sample does not
 * change (Theil–Sen). Per action, because a busy machine completes fewer of them.
 */
function bytesPerAction(samples: readonly Sample[]): number {
  const slopes = samples.flatMap((from, index) =>
    samples
      .slice(index + 1)
      .flatMap((to) => (to.actions > from.actions ? [(to.memoryBytes - from.memoryBytes) / (to.actions - from.actions)] : [])),
  )
  return slopes.sort((a, b) => a - b)[Math.floor(slopes.length / 2)] ?? 0
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
