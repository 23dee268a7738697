import { formatNumber, plural } from '../text/number.ts'

/** Joins the non-empty parts with commas, without full stops. */
export const joinParts = (parts: readonly (string | undefined)[]): string =>
  parts.flatMap((part) => (part === undefined || part === '' ? [] : [part.replace(/\.$/u, '')])).join(', ')

/** Local time, HH:MM:SS. */
export const formatTime = (at: string): string => new Date(at).toTimeString().slice(0, 8)

/** Duration in its two largest units. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const hours = Math.floor(seconds / 3_600)
  return hours < 24 ? `${hours} h ${Math.floor((seconds % 3_600) / 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `7 tools`, or `5 of 7 tools` if clients can use only some of them. */
export const toolCount = (offered: number, tools: number): string =>
  offered === tools ? plural(tools, 'tool') : `${formatNumber(offered)} of ${plural(tools, 'tool')}`
