import { type Finding, findingOf } from './finding.ts'
import { hiddenCharacterFindings } from './hidden-characters.ts'
import { joinText } from './joined-text.ts'
import { maxInstructions, type Instruction, findInstructions } from './mentions.ts'
import { payloadFindings } from './payloads.ts'
import { phraseFindings } from './phrases.ts'
import { textPartsOf } from './text-parts.ts'

// Of one definition; more of them say nothing more.
const maxFindings = 20

/** What can be said of a definition by itself, and what depends on the others. */
export interface ScanResult {
  readonly findings: readonly Finding[]
  readonly orders: readonly Instruction[]
  /** How much text it has. */
  readonly characters: number
}

/** Looks at all texts of a definition. The work grows with its size and no faster. */
export function scanDefinition(definition: object): ScanResult {
  const surfaces = textPartsOf(definition)
  const reading = joinText(surfaces)
  const orders = findInstructions(reading)
  const all = [...hiddenCharacterFindings(surfaces), ...phraseFindings(reading), ...payloadFindings(reading)]
  if (orders.length === maxInstructions)
    all.unshift(findingOf('unread', { surface: orders[0]?.surface ?? '', excerpt: 'more orders than are looked at' }))
  return { findings: firstPerRule(all).slice(0, maxFindings), orders, characters: reading.words.length }
}

/** The first of each rule on each surface. */
export function firstPerRule(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length < 2) return findings
  return [...new Map(findings.toReversed().map((each) => [`${each.rule} ${each.surface}`, each])).values()].toReversed()
}
