import { tableOf } from '../list/table.ts'
import { variants } from './engine.ts'
import type { Confidences, LeftOut } from './left-out.ts'
import type { SetResult } from './measure.ts'
import { meanOf, qualities } from './metrics.ts'

export interface Results {
  readonly sets: readonly SetResult[]
  readonly leftOut: readonly LeftOut[]
}

const titles = {
  recall1: 'R@1',
  recall5: 'R@5',
  recall10: 'R@10',
  mrr: 'MRR',
  ndcg5: 'nDCG@5',
  ndcg10: 'nDCG@10',
  complete10: 'all@10',
} as const

/** Renders the results as tables, in percent. */
export function reportOf({ sets, leftOut }: Results): string {
  const recall = perSet(sets, ({ quality }) => quality.recall5)
  const names = perSet(sets, ({ exactName }) => exactName)
  const serverNames = perSet(sets, ({ exactServerAndName }) => exactServerAndName)
  return [
    `Recall@5: share of the needed tools among the first five\n\n${recall}`,
    `All metrics, mean over the sets\n\n${meansOf(sets)}`,
    ...variants.map(({ name }) => `All metrics of ${name}\n\n${metricsOf(name, sets)}`),
    `Queries with a unique name: the tool ranks first\n\n${names}`,
    `Queries with a server and a unique name: the tool ranks first\n\n${serverNames}`,
    `False positives: matches after all matching servers were removed\n\n${falseAnswers({ sets, leftOut })}`,
    ...variants.map(({ name }) => {
      const rows = leftOut.filter(({ variant }) => variant === name)
      return `Confidence of ${name}: share of queries with strong / weak / no matches\n\n${confidences(rows)}`
    }),
  ].join('\n\n')
}

const enginesOf = (sets: readonly SetResult[]): readonly string[] => [...new Set(sets.map(({ engine }) => engine))]
const setsOf = (sets: readonly SetResult[]): readonly string[] => [...new Set(sets.map(({ set }) => set))]

function perSet(sets: readonly SetResult[], pick: (result: SetResult) => number | undefined): string {
  const rows = enginesOf(sets).map((engine) => rowOf(engine, sets.filter((each) => each.engine === engine).map(pick)))
  return tableOf(['', ...setsOf(sets), 'mean'], rows)
}

function rowOf(title: string, values: readonly (number | undefined)[]): readonly string[] {
  const known = values.filter((value) => value !== undefined)
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length
  return [title, ...[...values, mean].map((value) => (value === undefined ? '–' : percent(value)))]
}

function meansOf(sets: readonly SetResult[]): string {
  const rows = enginesOf(sets).map((engine) => {
    const quality = meanOf(sets.filter((each) => each.engine === engine).map((each) => each.quality))
    return [engine, ...qualities.map((key) => percent(quality[key]))]
  })
  return tableOf(['', ...qualities.map((key) => titles[key])], rows)
}

function metricsOf(name: string, sets: readonly SetResult[]): string {
  const rows = sets
    .filter(({ engine }) => engine === name)
    .map(({ set, queries, quality }) => [set, String(queries), ...qualities.map((key) => percent(quality[key]))])
  return tableOf(['', 'queries', ...qualities.map((key) => titles[key])], rows)
}

/** Other engines report no confidence, so every non-empty list counts as a match. */
function falseAnswers({ sets, leftOut }: Results): string {
  const names = new Set(variants.map(({ name }) => name))
  const others = enginesOf(sets).filter((engine) => !names.has(engine))
  const ours = variants.flatMap(({ name }) => {
    const shares = leftOut.filter(({ variant }) => variant === name).map((each) => each.leftOut)
    return [
      rowOf(
        `${name}: strong`,
        shares.map(({ strong }) => strong),
      ),
      rowOf(
        `${name}: strong or weak`,
        shares.map(({ strong, weak }) => strong + weak),
      ),
    ]
  })
  return tableOf(
    ['', ...setsOf(sets), 'mean'],
    [
      ...ours,
      ...others.map((engine) =>
        rowOf(
          engine,
          sets.filter((each) => each.engine === engine).map(({ answersAnyway }) => answersAnyway),
        ),
      ),
    ],
  )
}

function confidences(rows: readonly LeftOut[]): string {
  const text = ({ strong, weak, none }: Confidences): string =>
    [strong, weak, none].map((share) => (100 * share).toFixed(0).padStart(3)).join(' /')
  return tableOf(
    ['', 'needed tools present', 'present and in the first five', 'removed'],
    rows.map(({ set, there, found, leftOut }) => [set, text(there), text(found), text(leftOut)]),
  )
}

const percent = (share: number): string => (100 * share).toFixed(1)
