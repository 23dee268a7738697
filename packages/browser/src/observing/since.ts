import { ToolError } from '@unfold-mcp/server'
import { quoted } from '../reply/reply.ts'

/** From where on records are wanted: from the beginning, after a place, or from a time on. */
export type Since = { readonly from: 'beginning' } | { readonly from: 'place' | 'time'; readonly value: number }

export const fromBeginning: Since = { from: 'beginning' }

const time = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/i
const duration = /^(\d{1,9}(?:\.\d{1,3})?) ?(ms|s|m|h|d)$/i
const milliseconds: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** What `since` asks for; throws for what cannot be understood, and for a place that nothing has reached yet. */
export function sinceOf(
  since: number | string | undefined,
  { now, latest }: { readonly now: number; readonly latest: number },
): Since {
  if (since === undefined) return fromBeginning
  const text = typeof since === 'number' ? String(since) : since.trim()
  if (/^\d{1,15}$/.test(text)) return placeOf(Number(text), latest)
  const [, amount, unit = ''] = duration.exec(text) ?? []
  if (amount !== undefined) return { from: 'time', value: now - Number(amount) * (milliseconds[unit.toLowerCase()] ?? 0) }
  // A time without a zone is meant as all our times are given.
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
    `Nothing has reached place ${place} yet: the latest is ${latest}. The place is of an earlier run; leave \`since\` out to see ` +
      'what there is now.',
  )
}

/** Whether a record came after that. */
export function isSince(since: Since, record: { readonly seq: number; readonly at: number }): boolean {
  if (since.from === 'beginning') return true
  return since.from === 'place' ? record.seq > since.value : record.at >= since.value
}
