import { type Finding, findingOf, type Rule } from '../finding.ts'
import type { JoinedText } from '../joined-text.ts'
import { englishPhrases } from './english.ts'
import { PatternFilter } from './pattern-filter.ts'
import { giveVerbs, latinSignals, type Match, matchesOf, otherSignalsIn, readVerbs, type Signal } from './signals.ts'

const secretFile =
  /\.ssh\/|\bid_(?:rsa|ed25519)\b|\bid (?:rsa|ed25519)\b|\.aws\/credentials|\.cursor\/mcp\.json|claude_desktop_config|\.netrc\b|\.npmrc\b|\.git-credentials|\.gnupg\/|\.config\/gh\/|\/etc\/(?:passwd|shadow)|\.kube\/config|\.env\b|\bwallet\.dat\b/g
const reads =
  /\b(?:read|reading|open|cat|load|access|copy|fetch|get|include|provide|paste|attach|upload|send|pass|put|contents?)\b/
const wants =
  /\bbefore\s(?:you\s)?(?:us|call|invok|run|perform|execut|do|submit|answer)|\bbeforehand\b|\bcontents?\s(?:of|from)\s(?:[~/.]|reading)|\b(?:pass|send|put|include|add|insert|attach|provide|submit)\s(?:its|their|the|that|this|all|it)\s(?:\w{1,20}\s){0,2}(?:contents?|text|data|key|keys|variables|output|with)|\bmust\s(?:first\s)?(?:read|open|load|include|send)\b|\bfirst\sopen\b|\botherwise\b|\bsidenote\b|\bread\sit\syourself\b|\bencode\sit\b/

const contextLength = 240

// Only the first match per rule and path is reported.
const maxPerRule = 100

// A text about attacks quotes them.
const quoted = /(?:\b(?:such\sas|like|as|e\.g\.|input|writes?|wie|comme|como|come)|[:：写入]|之类)\s?["'“„«‘「『(]{1,2}\s?$/u
const quotedReach = 24

/** Finds phrases that a text for people has no reason to contain. */
export function phraseFindings(joined: JoinedText): readonly Finding[] {
  const findings: Finding[] = []
  const counts = new Map<Rule, number>()
  const add = (rule: Rule, index: number): void => {
    const count = (counts.get(rule) ?? 0) + 1
    counts.set(rule, count)
    if (count <= maxPerRule && !isQuoted(joined.lower, index))
      findings.push(findingOf(rule, { path: joined.pathAt(index), excerpt: joined.excerpt(index) }))
  }
  for (const { rule, index } of phrasesIn(joined)) add(rule, index)
  for (const index of secretRequests(joined)) add('secrets', index)
  return findings
}

/** Searched in text with accents and look-alikes replaced. */
export const latinPhrases: readonly Signal[] = [
  ...englishPhrases.map(([rule, anchor]) => ({ rule, anchor, others: [] })),
  ...latinSignals,
]
// Built on first use: commands that only import this do not need it.
let filter: PatternFilter<Signal> | undefined

/** All phrases in a text, in English and other languages. */
export function phrasesIn({ lower, normalized }: Pick<JoinedText, 'lower' | 'normalized'>): readonly Match[] {
  filter ??= new PatternFilter(latinPhrases, ({ anchor }) => anchor)
  const matches: Match[] = []
  for (const signal of filter.select(normalized))
    if (signal.gate?.test(normalized) !== false) matches.push(...matchesOf(signal, normalized))
  matches.push(...otherSignalsIn(lower))
  return matches
}

const isQuoted = (text: string, index: number): boolean => quoted.test(text.slice(Math.max(0, index - quotedReach), index))

/** Finds files with secrets that the text asks for, not only mentions. */
function secretRequests(joined: JoinedText): readonly number[] {
  const indexes: number[] = []
  let last = Number.NEGATIVE_INFINITY
  for (const { index } of joined.normalized.matchAll(secretFile)) {
    // Covered by the context of the previous match.
    if (index - last < contextLength / 3) continue
    last = index
    const { normalized, lower } = joined.around(index, contextLength)
    const isEnglish = reads.test(normalized) && wants.test(normalized)
    if (isEnglish || [normalized, lower].some((text) => readVerbs.test(text) && giveVerbs.test(text))) indexes.push(index)
  }
  return indexes
}
