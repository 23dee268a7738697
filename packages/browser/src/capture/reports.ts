import { z } from 'zod'

/** Maximum length of a report, in characters. */
export const reportLimit = 24 * 1024
/** Maximum length of a typed or chosen value, in characters. */
export const valueLimit = 1_024

const short = z.string().max(500)
const ms = z.number().min(0).max(1e9)

const selectors = z.strictObject({
  testId: short.exactOptional(),
  role: z.strictObject({ role: z.string().max(50), name: short }).exactOptional(),
  label: short.exactOptional(),
  placeholder: short.exactOptional(),
  text: short.exactOptional(),
  css: z.string().max(2_000),
  xpath: z.string().max(2_000),
})

const action = z.strictObject({
  kind: z.literal('action'),
  action: z.enum(['click', 'input', 'select', 'check', 'key', 'submit', 'scroll']),
  at: z.number(),
  url: z.string().max(8 * 1024),
  selectors: selectors.exactOptional(),
  value: z
    .string()
    .max(valueLimit + 1)
    .exactOptional(),
  secret: z.literal(true).exactOptional(),
  checked: z.boolean().exactOptional(),
  key: z.string().max(20).exactOptional(),
  scroll: z.strictObject({ x: z.number(), y: z.number() }).exactOptional(),
})

const vitals = z.strictObject({
  kind: z.literal('vitals'),
  url: z.string().max(8 * 1024),
  ttfb: ms.exactOptional(),
  fcp: ms.exactOptional(),
  lcp: ms.exactOptional(),
  cls: z.number().min(0).max(1e6).exactOptional(),
  inp: ms.exactOptional(),
  domContentLoaded: ms.exactOptional(),
  load: ms.exactOptional(),
  isSoFar: z.literal(true).exactOptional(),
  longTasks: z.strictObject({ count: z.number().int().min(0), total: ms, longest: ms }),
})

const report = z.discriminatedUnion('kind', [action, vitals, z.strictObject({ kind: z.literal('focus') })])

export type Report = z.infer<typeof report>
export type Vitals = z.infer<typeof vitals>

/** Parses a report; `undefined` if it is malformed. */
export function reportOf(text: string): Report | undefined {
  if (text.length > reportLimit) return undefined
  try {
    return report.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
