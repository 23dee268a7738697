/** Checks of texts, for programs that measure them. */
export { type Inspected, type InspectionSettings, inspect, type ResultFinding } from './inspection/inspect.ts'
export { type FoundSecret, secretFormatsIn } from './inspection/secret-formats.ts'
export type { Range } from './observability/fingerprints.ts'
export { type Finding, type Rule, rules } from './poisoning/finding.ts'
export { type Instruction, ToolMentions } from './poisoning/mentions.ts'
export { type ScanResult, scanDefinition, scanTexts } from './poisoning/scan.ts'
export type { TextPart } from './poisoning/text-parts.ts'
