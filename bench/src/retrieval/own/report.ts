import { tableOf } from '../../list/table.ts'
import type { Confidences } from '../left-out.ts'
import type { ForeignResult } from './foreign-requests.ts'
import { countsOf, type Found } from './found.ts'
import type { LanguageResult } from './language-requests.ts'
import type { OwnResults } from './measure.ts'
import { type NaturalResult, naturalCountsOf } from './natural-requests.ts'

/** Renders the results of one or more variants. */
export function ownReportOf(results: readonly OwnResults[]): string {
  return ['Our own sets', ...results.map(variantOf)].join('\n\n')
}

function variantOf({ variant, indirect, direct, foreign, languages, natural }: OwnResults): string {
  const curve = curveTable(foreign)
  return [
    `${variant}: requests for our own tools, number of requests\n\n${foundTable({ direct, indirect })}`,
    `${variant}: share of requests with strong / weak / no matches\n\n${foreignTable(foreign)}`,
    ...(curve === undefined ? [] : [`${variant}: share of answered requests by minimum confidence, all own tools\n\n${curve}`]),
    `${variant}: requests in other languages, right tool among the first five\n\n${languageTable(languages)}`,
    ...(natural.length === 0 ? [] : [`${variant}: natural requests on the large catalogue\n\n${naturalTable(natural)}`]),
  ].join('\n\n')
}

function foundTable(sets: { readonly [name: string]: readonly Found[] }): string {
  const rows = Object.entries(sets).map(([name, found]) => {
    const { requests, first, found: within, answered, strong } = countsOf(found)
    return [name, ...[requests, first, within, answered, strong].map(String)]
  })
  return tableOf(['', 'requests', 'tool is first', 'in the first five', '… and weak or strong', '… and strong'], rows)
}

function foreignTable(results: readonly ForeignResult[]): string {
  const rows = results.map(({ catalogue, foreign, others, direct, indirect }) => [
    catalogue,
    sharesText(foreign),
    sharesText(others),
    sharesText(direct),
    sharesText(indirect),
  ])
  return tableOf(['', 'foreign', 'for our other tools', 'direct', 'indirect'], rows)
}

function sharesText(shares: Confidences | undefined): string {
  if (shares === undefined) return '–'
  return [shares.strong, shares.weak, shares.none].map((share) => (100 * share).toFixed(0).padStart(3)).join(' /')
}

/** Returns the curve of the catalogue with all our tools; undefined if the search exposes no number. */
function curveTable(results: readonly ForeignResult[]): string | undefined {
  const curve = results.find(({ curve: points, others }) => points.length > 0 && others === undefined)?.curve
  if (curve === undefined) return undefined
  const kinds = Object.keys(curve[0]?.shares ?? {})
  const rows = curve.map(({ threshold, shares }) => [
    threshold.toFixed(2),
    ...kinds.map((kind) => (100 * (shares[kind] ?? 0)).toFixed(1)),
  ])
  return tableOf(['minimum', ...kinds], rows)
}

function languageTable(results: readonly LanguageResult[]): string {
  const rows = results.map(({ language, translated, english }) => [
    language,
    `${translated.found} of ${translated.requests}`,
    `${english.found} of ${english.requests}`,
    ((translated.found + english.found) / (translated.requests + english.requests)).toFixed(3),
  ])
  return tableOf(['', 'description in that language', 'English description', 'R@5'], rows)
}

function naturalTable(results: readonly NaturalResult[]): string {
  const rows = results.map(({ query, isServed, isUseful, confidence, first }) => [
    query,
    isServed ? (isUseful ? 'yes' : 'no') : 'has none',
    confidence,
    first ?? '–',
  ])
  const { requests, good, served, useful, uselessStrong } = naturalCountsOf(results)
  return [
    tableOf(['', 'useful', 'confidence', 'first match'], rows, 4),
    '',
    `Useful tool in the first five: ${useful} of the ${served} requests that have one`,
    `… or nothing claimed where there is none: ${good} of ${requests}`,
    `Useless strong answers: ${uselessStrong}`,
  ].join('\n')
}
