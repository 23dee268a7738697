import type { Confidence } from '../confidence.ts'
import type { Closeness } from './document-vectors.ts'

/** Share of the lexical score by lexical confidence … */
const lexicalShare: { readonly [C in Confidence]: number } = { strong: 1, weak: 0.8, none: 0.5 }
/** … and weight of the meaning: words that match well need no help. */
const meaningShare: { readonly [C in Confidence]: number } = { strong: 0.15, weak: 0.8, none: 1.2 }

/** Combines the lexical score of a document with its closeness in meaning. `best` is the highest lexical score. */
export function fusedScore(
  lexical: number,
  best: number,
  { document, closeness, confidence }: { document: number; closeness: Closeness; confidence: Confidence },
): number {
  const { cosines, median, highest } = closeness
  const lead = highest > median ? Math.max(0, ((cosines[document] as number) - median) / (highest - median)) : 0
  return best * (lexicalShare[confidence] * (lexical / best) + meaningShare[confidence] * lead)
}
