import { ToolError } from '@unfold-mcp/server'
import { quoted } from '../reply/reply.ts'

/** Start of the wanted records: the beginning, after a sequence number, or from a time. */
export type Since = { readonly from: 'beginning' } | { readonly from: 'place' | 'time'; readonly value: number }

export const fromBeginning: Since = { from: 'beginning' }

const time = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/i
const duration = /^(\d{1,9}(?:\.\d{1,3})?) ?(ms|s|m|h|d)$/i
const milliseconds: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `since`; throws if it is invalid or beyond the latest record. */
export function sinceOf(
  since: number | string | undefined,
  { now, latest }: { readonly now: number; readonly latest: number },
): Since {
  if (since === undefined) return fromBeginning
  const text = typeof since === 'number' ? String(since) : since.trim()
  if (/^\d{1,15}$/.test(text)) return placeOf(Number(text), latest)
  const [, amount, unit = ''] = duration.exec(text) ?? []
  if (amount !== undefined) return { from: 'time', value: now - Number(amount) * (milliseconds[unit.toLowerCase()] ?? 0) }
  // Times without a zone are UTC, like all times in replies.
  const at = time.test(text)
    ? Date.parse(/T/i.test(text) && !/(?:Z|[+-]\d{2}:\d{2})$/i.test(text) ? `${text}Z` : text)
    : Number.NaN
  if (!Number.isNaN(at)) return { from: 'time', value: at }
  throw new ToolError(
    `${quoted(text, 40)} cannot be understood as \`since\`. Give the place of an earlier answer (its number \`latest\`), a time such ` +
      'as 2026-01-31T09:30:00Z, or a duration such as 30s, 5m or 1h.',
  )
}

function placeOf(place: number, latest: number): Since {
  if (place <= latest) return { from: 'place', value: place }
  throw new ToolError(
    `No record has number ${place} yet: the latest is ${latest}. It is from an earlier run; omit \`since\` to see ` +
      'what there is now.',
  )
}

export function isSince(since: Since, record: { readonly seq: number; readonly at: number }): boolean {
  if (since.from === 'beginning') return true
  return since.from === 'place' ? record.seq > since.value : record.at >= since.value
}
