import type { Soak } from './soak.ts'

/** Servers in the larger of the two configurations. */
const maxServers = 3
// Connections that happen to be idle at one of the two measurements.
const spareDescriptors = 4
const growth = 1.1
/** After a minute, caches and compiled code are still growing. */
const shortRunBytes = 12_000_000
const settledMinute = 5

/** Returns the leaks that a soak shows; empty if there are none. */
export function leaksOf({ samples, leftServers }: Soak): readonly string[] {
  const last = samples.at(-1)
  if (last === undefined) return ['no measurement']
  const first = samples.find(({ minute }) => minute >= Math.min(settledMinute, last.minute / 2)) ?? last
  const limit = first.memoryBytes * growth + (last.minute < 2 * settledMinute ? shortRunBytes : 0)
  const leaks: string[] = []
  if (last.memoryBytes > limit)
    leaks.push(`memory grew from ${megabytes(first.memoryBytes)} to ${megabytes(last.memoryBytes)} (limit: ${megabytes(limit)})`)
  if ((last.descriptors ?? 0) > (first.descriptors ?? 0) + spareDescriptors)
    leaks.push(`file descriptors grew from ${first.descriptors} to ${last.descriptors}`)
  if (last.servers > maxServers) leaks.push(`${last.servers} server processes, at most ${maxServers} are configured`)
  if (leftServers.length > 0) leaks.push(`server processes outlived the gateway: ${leftServers.join(', ')}`)
  return leaks
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
