import { z } from 'zod'
import { type Rule, rules, severities } from './security-rules.ts'
import type { Source } from './source.ts'

export const securitySchema = z.object({
  findings: z.array(
    z.object({
      severity: z.enum(severities),
      rule: z.string(),
      line: z.int(),
      excerpt: z.string().describe('The line, with what looks like a secret left out'),
      advice: z.string(),
    }),
  ),
  note: z.string(),
})

type Finding = z.infer<typeof securitySchema>['findings'][number]

const maxPerRule = 50

/** Returns known security problems, worst first. */
export function scan(source: Source): z.infer<typeof securitySchema> {
  const findings = rules
    .filter(({ languages, when }) => (languages?.includes(source.language) ?? true) && (when?.test(source.code) ?? true))
    .flatMap((rule) => findingsOf(source, rule))
    .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity) || a.line - b.line)
  return { findings, note: 'Found by patterns, not by following data: check each, and do not take silence for safety.' }
}

function findingsOf(source: Source, { id, severity, pattern, within, advice, isFine }: Rule): Finding[] {
  const matches = [...source[within].matchAll(pattern)].filter((match) => isFine?.(match[0]) !== true)
  return matches.slice(0, maxPerRule).map((match) => {
    const line = source.lineAt(match.index)
    const text = (source.lines[line - 1] ?? '').trim()
    return { severity, rule: id, line, excerpt: (within === 'bare' ? text : redacted(text)).slice(0, 160), advice }
  })
}

/** Redacts secrets in findings. */
const redacted = (line: string): string => line.replace(/[\w+/=-]{8,}(?=['"`\s]|$)/gu, (found) => `${found.slice(0, 4)}…`)
