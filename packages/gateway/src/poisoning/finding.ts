import { printable } from '@unfold-mcp/core'
import { shorten } from '../base/visible-text.ts'

const removeAdvice = 'Unless you expected this, exclude the tool with "deny", or remove the server.'

export const rules = {
  overriding: { description: 'tells the model to ignore its instructions', advice: removeAdvice },
  secrecy: { description: 'tells the model to hide something from the user', advice: removeAdvice },
  posing: { description: 'imitates a system message', advice: removeAdvice },
  secrets: {
    description: 'asks for secrets or for the whole conversation',
    advice: `Rotate passwords and keys that may have been exposed. ${removeAdvice}`,
  },
  hidden: { description: 'contains hidden characters', advice: `Clients get the text without them. ${removeAdvice}` },
  payload: { description: 'contains a shell command', advice: removeAdvice },
  shadowing: { description: 'gives instructions for a tool of another server', advice: removeAdvice },
  clone: {
    description: 'is described like a tool of another server',
    advice: 'One of them may impersonate the other. Exclude the one you do not trust with "deny".',
  },
  reference: {
    description: 'refers to a schema elsewhere',
    advice: `Clients may fetch the schema, reject the tool or skip its validation. ${removeAdvice}`,
  },
  milder: {
    description: 'became milder although the tool accepts more parameters',
    advice: 'Check what the tool does now before you approve it.',
  },
  parameter: {
    description: 'is a new parameter for private data',
    advice: 'Check why the tool needs it before you approve the change.',
  },
  unread: { description: 'exceeds the amount of text that is checked', advice: 'Limit its tools with "allow".' },
} as const

export type Rule = keyof typeof rules

/** Returns what a rule finds: "contains a shell command". */
export const describeRule = (rule: Rule): string => rules[rule].description

/** A sign of tool poisoning in the text of a server. Findings are reported, not blocked. */
export interface Finding {
  /** Name of the tool on the server, escaped; absent for text outside tools. */
  readonly tool?: string
  /** Location, such as `inputSchema.properties.path.description`. */
  readonly path: string
  readonly rule: Rule
  /** Predicate that follows the path: "contains a shell command". */
  readonly description: string
  /** The matching text, escaped, at most 120 characters. */
  readonly excerpt: string
  readonly advice: string
}

const maxExcerptLength = 120

export function findingOf(
  rule: Rule,
  { path, excerpt, description }: { readonly path: string; readonly excerpt: string; readonly description?: string },
): Finding {
  return { path, rule, excerpt: escaped(excerpt), ...rules[rule], ...(description !== undefined && { description }) }
}

function escaped(text: string): string {
  const excerpt = printable(shorten(text, maxExcerptLength), maxExcerptLength)
  // Escaping can make it longer again.
  return excerpt.length <= maxExcerptLength ? excerpt : `${excerpt.slice(0, maxExcerptLength - 1)}…`
}

/** Returns at most `max` findings, in their order. Every rule gets its share, so that many of one rule do not hide another. */
export function selectFindings(findings: readonly Finding[], max: number): readonly Finding[] {
  if (findings.length <= max) return findings
  const byRule = new Map<Rule, Finding[]>()
  for (const finding of findings) {
    const others = byRule.get(finding.rule)
    if (others === undefined) byRule.set(finding.rule, [finding])
    else others.push(finding)
  }
  const selected = new Set<Finding>()
  for (let round = 0; selected.size < max; round++)
    for (const each of byRule.values()) {
      const finding = each[round]
      if (finding !== undefined && selected.size < max) selected.add(finding)
    }
  return findings.filter((finding) => selected.has(finding))
}
