import { formatNumber, plural } from '../text/number.ts'

/** What there is to say, in one line; whole sentences among it lose their full stop. */
export const joinParts = (parts: readonly (string | undefined)[]): string =>
  parts.flatMap((part) => (part === undefined || part === '' ? [] : [part.replace(/\.$/u, '')])).join(', ')

/** The time of day here. */
export const formatTime = (at: string): string => new Date(at).toTimeString().slice(0, 8)

/** A length of time in its two largest units. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const hours = Math.floor(seconds / 3_600)
  return hours < 24 ? `${hours} h ${Math.floor((seconds % 3_600) / 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** How many tools a server has; where clients may have only a part of them, how large that part is. */
export const toolCount = (offered: number, tools: number): string =>
  offered === tools ? plural(tools, 'tool') : `${formatNumber(offered)} of ${plural(tools, 'tool')}`
