import type { SearchMatch, SearchResult } from './search-result.ts'

/** Similarity of a document to the query according to an embedder. */
export interface SemanticMatch {
  readonly id: string
  /** Cosine, or any other score where more is closer. */
  readonly score: number
}

/** Weight of the best semantic match. Below 1, so that it cannot displace the best lexical match. */
const semanticShare = 0.5
/** Weight of lexical matches by confidence. */
const lexicalShare = { strong: 1, weak: 0.7, none: 0.4 } as const

/**
 * Combines lexical and semantic results. Named tools stay first, and the best match of a confident result stays before purely semantic
 * matches. `semantic` must contain only visible documents.
 */
export function fuse(lexical: SearchResult, semantic: readonly SemanticMatch[], limit = 10): SearchResult {
  const usable = semantic.filter(({ score }) => Number.isFinite(score))
  if (usable.length === 0) return { ...lexical, matches: lexical.matches.slice(0, limit) }
  const best = Math.max(Number.MIN_VALUE, ...lexical.matches.map(({ score }) => score))
  const [low, high] = rangeOf(usable)
  const fused = new Map<string, SearchMatch>()
  for (const match of lexical.matches)
    fused.set(match.id, { ...match, score: (lexicalShare[lexical.confidence] * match.score) / best })
  for (const { id, score } of usable) {
    const known = fused.get(id) ?? { id, score: 0, isNamed: false }
    fused.set(id, { ...known, score: known.score + semanticShare * (high > low ? (score - low) / (high - low) : 1) })
  }
  return {
    ...lexical,
    matches: [...fused.values()].sort(byPlace).slice(0, limit),
    confidence: lexical.confidence === 'none' ? 'weak' : lexical.confidence,
  }
}

function byPlace(a: SearchMatch, b: SearchMatch): number {
  return Number(b.isNamed) - Number(a.isNamed) || b.score - a.score || (a.id < b.id ? -1 : 1)
}

function rangeOf(matches: readonly SemanticMatch[]): readonly [low: number, high: number] {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const { score } of matches) {
    if (score < low) low = score
    if (score > high) high = score
  }
  return [low, high]
}

/** Cosine similarity; 0 for vectors that cannot be compared. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let product = 0
  let lengthA = 0
  let lengthB = 0
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number
    const y = b[i] as number
    product += x * y
    lengthA += x * x
    lengthB += y * y
  }
  const length = Math.sqrt(lengthA) * Math.sqrt(lengthB)
  return length > 0 && Number.isFinite(length) ? Math.max(-1, Math.min(1, product / length)) : 0
}
