import type { Confidence } from '@unfold-mcp/core'
import type { Confidences } from '../left-out.ts'
import type { Answer } from './search.ts'

export type { Confidences }

/** Shares of requests by confidence. */
export function sharesOf(answers: readonly Answer[]): Confidences {
  const share = (wanted: Confidence): number => answers.filter(({ confidence }) => confidence === wanted).length / answers.length
  return { strong: share('strong'), weak: share('weak'), none: share('none') }
}

/** Shares of answers with at least this belief, by kind of request. */
export interface CurvePoint {
  readonly threshold: number
  readonly shares: { readonly [kind: string]: number }
}

/** From 0.3 to 0.8. */
const thresholds = Array.from({ length: 11 }, (_, index) => (index + 6) / 20)

/** Returns a point per threshold; none if any answer lacks its belief. */
export function curveOf(answers: { readonly [kind: string]: readonly Answer[] }): readonly CurvePoint[] {
  const beliefs = Object.entries(answers).map(([kind, each]) => [kind, each.map(({ belief }) => belief)] as const)
  if (beliefs.some(([, each]) => each.includes(undefined))) return []
  return thresholds.map((threshold) => ({
    threshold,
    shares: Object.fromEntries(
      beliefs
        .filter(([, each]) => each.length > 0)
        .map(([kind, each]) => [kind, each.filter((belief) => (belief ?? 0) >= threshold).length / each.length]),
    ),
  }))
}
