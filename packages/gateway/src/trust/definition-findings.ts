import type { Finding } from '../poisoning/finding.ts'
import { scanDefinition } from '../poisoning/scan.ts'

/** Signs of tool poisoning in a definition that is not part of a gateway yet. */
export const definitionFindings = (definition: object): readonly Finding[] => scanDefinition(definition).findings
