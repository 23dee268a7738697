import { median } from '../tokens/cost.ts'
import type { Cost, Way } from './agents.ts'
import type { Speed } from './speed.ts'

export interface Row {
  readonly name: string
  readonly isReal: boolean
  /** One call solves it. */
  readonly isSingle: boolean
  readonly costs: { readonly [W in Way]: Cost }
}

export interface Results {
  readonly tools: number
  readonly rows: readonly Row[]
  readonly speed: Speed
}

const tokens = ({ read, written }: Cost): number => read + written
const ratio = ({ costs }: Row): number => tokens(costs.run_code) / tokens(costs.call_tool)
const percent = (share: number): string => `${Math.round(share * 100)} %`
const ways: readonly Way[] = ['direct', 'call_tool', 'run_code']

/** Targets of the benchmark with their measured values. */
export function targetsOf({ rows, speed }: Results): readonly { readonly what: string; readonly isMet: boolean }[] {
  const all = median(rows.map(ratio))
  const singles = Math.max(...rows.filter(({ isSingle }) => isSingle).map(ratio))
  const added = speed.scriptCallMs - speed.directCallMs
  return [
    { what: `median tokens of run_code: ${percent(all)} of call_tool (limit: 40 %)`, isMet: all <= 0.4 },
    { what: `tasks of one call: at most ${percent(singles)} of call_tool (limit: 125 %)`, isMet: singles <= 1.25 },
    { what: `start of a script: ${speed.startMs.toFixed(1)} ms p50 (limit: 15 ms)`, isMet: speed.startMs <= 15 },
    { what: `call from a script: ${added.toFixed(2)} ms more than a direct call (limit: 0.3 ms)`, isMet: added <= 0.3 },
  ]
}

/** A table for the guide. */
export function guideTable({ tools, rows }: Results): string {
  const lines = rows.map((row) => {
    const { direct, call_tool: byName, run_code: byScript } = row.costs
    return [
      `${row.name}${row.isReal ? ' *' : ''}`,
      ...[direct, byName, byScript].flatMap((cost) => [String(cost.turns), tokens(cost).toLocaleString('en')]),
      percent(ratio(row)),
    ]
  })
  const header = ['task', 'turns', 'direct', 'turns', 'call_tool', 'turns', 'run_code', 'run_code / call_tool']
  const widths = header.map((name, column) => Math.max(...[header, ...lines].map((line) => (line[column] ?? name).length)))
  const aligned = (line: readonly string[]): string =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')
  const all = median(rows.map(ratio))
  return [
    `Model turns and tokens of tasks with ${tools} tools (o200k_base; what the model reads and writes, each counted once)`,
    '',
    aligned(header),
    widths.map((width) => '-'.repeat(width)).join('  '),
    ...lines.map(aligned),
    '',
    `Median of the last column: ${percent(all)}. * servers from npm`,
  ].join('\n')
}

/** Tables in Markdown. */
export function reportOf({ tools, rows, speed }: Results): string {
  const cells = ({ turns, read, written, ms }: Cost): string => `${turns} | ${read} | ${written} | ${Math.round(ms)}`
  return [
    `Tokens (o200k_base) that the model reads and writes, each counted once, with ${tools} tools:`,
    '',
    `| Task | ${ways.map((way) => `${way}: turns | read | written | ms`).join(' | ')} | run_code / call_tool |`,
    `| --- ${'| ---: '.repeat(13)}|`,
    ...rows.map(
      (row) =>
        `| ${row.name}${row.isReal ? ' *' : ''} | ${ways.map((way) => cells(row.costs[way])).join(' | ')} | ${percent(ratio(row))} |`,
    ),
    '',
    '\\* servers from npm',
    '',
    '| | direct | call_tool | run_code |',
    '| --- | ---: | ---: | ---: |',
    ...summaries.map(
      ([name, of]) =>
        `| ${name} | ${ways.map((way) => Math.round(median(rows.map(({ costs }) => of(costs[way]))))).join(' | ')} |`,
    ),
    '',
    `Start of a script: ${speed.startMs.toFixed(1)} ms p50, ${speed.startP95Ms.toFixed(1)} ms p95, with types ${speed.typedStartMs.toFixed(1)} ms p50. ` +
      `A call: ${speed.directCallMs.toFixed(2)} ms directly, ${speed.scriptCallMs.toFixed(2)} ms from a script.`,
  ].join('\n')
}

const summaries: readonly (readonly [string, (cost: Cost) => number])[] = [
  ['median turns', ({ turns }) => turns],
  ['median tokens, each counted once', tokens],
  ['median tokens, the context sent again with each turn', ({ resent }) => resent],
  ['median ms of all calls', ({ ms }) => ms],
]
