import { type Finding, findingOf, selectFindings } from './finding.ts'
import { hiddenCharacterFindings } from './hidden-characters.ts'
import { joinText } from './joined-text.ts'
import { findInstructions, type Instruction, maxInstructions } from './mentions.ts'
import { payloadFindings } from './payloads.ts'
import { phraseFindings } from './phrases/phrases.ts'
import { referenceFindings } from './references.ts'
import { type TextPart, textPartsOf } from './text-parts.ts'

// Per definition.
const maxFindings = 20

export interface ScanResult {
  readonly findings: readonly Finding[]
  /** To be compared with the tools of other servers. */
  readonly instructions: readonly Instruction[]
  readonly characters: number
}

/** Scans all texts of a definition in linear time. */
export function scanDefinition(definition: object): ScanResult {
  const parts = textPartsOf(definition)
  const joined = joinText(parts)
  const instructions = findInstructions(joined)
  const findings = [
    ...hiddenCharacterFindings(parts),
    ...phraseFindings(joined),
    ...payloadFindings(joined),
    ...referenceFindings(definition),
  ]
  if (instructions.length === maxInstructions)
    findings.unshift(findingOf('unread', { path: instructions[0]?.path ?? '', excerpt: 'too many instructions to check' }))
  return { findings: selectFindings(firstPerRule(findings), maxFindings), instructions, characters: joined.normalized.length }
}

/** Scans texts that a server returned: phrases and hidden characters, in linear time. */
export function scanTexts(parts: readonly TextPart[]): readonly Finding[] {
  return firstPerRule([...hiddenCharacterFindings(parts), ...phraseFindings(joinText(parts))])
}

/** Keeps the first finding per rule and path. */
export function firstPerRule(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length < 2) return findings
  return [...new Map(findings.toReversed().map((each) => [`${each.rule} ${each.path}`, each])).values()].toReversed()
}
