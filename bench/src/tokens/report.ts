import { type Measured, searchCounts, searching } from './measure.ts'

/** Target for a reply with five matches on livemcp. */
export const replyTarget = 400

/** Renders the tables as text. */
export function reportOf(all: readonly Measured[]): string {
  return [
    'Tokens in the context of a model (o200k_base, compact JSON)',
    '',
    costTable(all),
    '',
    'Each search is a query, five signatures, and two definitions. Lazy is one search with manage_tools and two enabled',
    'tools. Groups are servers, with one activated: the median, and the most expensive.',
    '',
    'Break-even',
    '',
    breakEvenTable(all),
    '',
    'The columns on the right are the number of tools that cost as much as that many searches: with fewer, list everything.',
  ].join('\n')
}

/** Renders the appendix on replies and the estimate. */
export function appendixOf(all: readonly Measured[]): string {
  return [
    'Replies of search_tools with five matches, and the estimate of core/tokens compared with o200k_base',
    '',
    appendixTable(all),
  ].join('\n')
}

function costTable(all: readonly Measured[]): string {
  const head = ['catalogue', 'tools', 'full list', 'lazy', 'groups: median', 'groups: max', ...searchCounts.map(searches)]
  return tableOf(
    head,
    all.map((each) => [
      each.name,
      number(each.tools),
      number(each.full),
      against(each.lazy, each),
      each.groups === undefined ? '' : against(each.groups.median, each),
      each.groups === undefined ? '' : against(each.groups.most, each),
      ...searchCounts.map((count) => against(searching(each, count), each)),
    ]),
  )
}

function breakEvenTable(all: readonly Measured[]): string {
  const head = [
    'catalogue',
    'tokens per tool',
    'surface',
    'one search',
    'break-even searches',
    ...searchCounts.map((count) => `tools: ${searches(count)}`),
  ]
  return tableOf(
    head,
    all.map((each) => [
      each.name,
      number(each.full / each.tools),
      number(each.surface),
      number(each.perSearch),
      each.breakEven < 100 ? each.breakEven.toFixed(1) : number(each.breakEven),
      ...each.worthFrom.map(number),
    ]),
  )
}

function appendixTable(all: readonly Measured[]): string {
  const head = [
    'catalogue',
    'replies with five',
    'median text',
    'median whole reply',
    'estimate: list',
    'one tool, median',
    'one tool, p95',
  ]
  return tableOf(
    head,
    all.map(({ name, reply, estimate }) => [
      name,
      number(reply.replies),
      number(reply.text),
      number(reply.whole),
      percent(estimate.list, 1),
      percent(estimate.median, 1).replace('+', '±'),
      percent(estimate.p95, 1).replace('+', '±'),
    ]),
  )
}

const searches = (count: number): string => (count === 1 ? '1 search' : `${count} searches`)
const number = (value: number): string => Math.round(value).toLocaleString('en-GB')
const percent = (share: number, digits = share < -0.99 ? 1 : 0): string =>
  `${share < 0 ? '−' : '+'}${(Math.abs(share) * 100).toFixed(digits)} %`
const against = (tokens: number, { full }: Measured): string => `${number(tokens)} (${percent(tokens / full - 1)})`

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].map((text) => text.trimEnd()).join('\n')
}
