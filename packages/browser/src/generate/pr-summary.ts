import { counted } from '@unfold-mcp/core'
import type { Audit, LogEntry, NetworkRequest, UserAction } from '../records/records.ts'
import { codeSpan, list } from './markdown.ts'
import { buildPlan } from './script/steps.ts'

/** Performance of a page compared with its baseline. */
interface PagePerformance {
  readonly url: string
  readonly metrics: readonly {
    /** Such as `LCP`; trusted text. */
    readonly name: string
    readonly unit: 'ms' | ''
    readonly value: number
    readonly baseline?: number
    readonly verdict?: 'better' | 'same' | 'worse'
  }[]
}

export interface PrSummaryInput {
  readonly title?: string
  readonly actions?: readonly UserAction[]
  readonly logs?: readonly LogEntry[]
  readonly network?: readonly NetworkRequest[]
  readonly performance?: readonly PagePerformance[]
  readonly audits?: readonly Audit[]
}

const shown = { pages: 5, steps: 6, problems: 7, failures: 6, performance: 4, faults: 5 } as const
const impacts = ['critical', 'serious', 'moderate', 'minor'] as const

/** Summarizes a browser session for reviewers, in at most about 60 lines of Markdown. */
export function prSummary(input: PrSummaryInput): string {
  const { title = 'Tried in the browser', actions = [], logs = [], network = [], performance = [], audits = [] } = input
  const sections = [
    [`## ${title === 'Tried in the browser' ? title : codeSpan(title, 80)}`, '', overview(actions, network)],
    exercised(actions, network),
    problems(logs),
    failures(network),
    performed(performance),
    accessibility(audits),
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function overview(actions: readonly UserAction[], network: readonly NetworkRequest[]): string {
  const pages = pagesOf(actions, network).size
  return `${counted(pages, 'page')}, ${counted(actions.length, 'action')}, ${counted(network.length, 'request')}.`
}

function exercised(actions: readonly UserAction[], network: readonly NetworkRequest[]): readonly string[] {
  const pages = [...pagesOf(actions, network)]
  if (pages.length === 0) return []
  const { steps } = buildPlan(actions.slice(-200))
  return [
    '### What was done',
    '',
    ...list(pages, shown.pages, ([url, count]) => `${codeSpan(url)}: ${counted(count, 'action')}`),
    ...(steps.length > 0 ? ['', 'At last:', ''] : []),
    ...steps.slice(-shown.steps).map(({ title }, i) => `${i + 1}. ${codeSpan(title)}`),
  ]
}

/** Visited pages with the number of actions on each. */
function pagesOf(actions: readonly UserAction[], network: readonly NetworkRequest[]): ReadonlyMap<string, number> {
  const pages = new Map<string, number>()
  const count = (url: string, by: number): unknown => pages.set(bare(url), (pages.get(bare(url)) ?? 0) + by)
  for (const { url } of actions) count(url, 1)
  if (actions.length === 0) for (const { pageUrl } of network) count(pageUrl, 0)
  return pages
}

function problems(logs: readonly LogEntry[]): readonly string[] {
  if (logs.length === 0) return []
  const meant = logs.filter(({ level }) => level === 'error' || level === 'warning')
  const groups = grouped(meant, ({ level, from, text }) => JSON.stringify([level, from === 'exception', text]))
  const ordered = groups.toSorted((a, b) => Number(b.first.level === 'error') - Number(a.first.level === 'error'))
  return [
    '### Errors and warnings',
    '',
    ...(ordered.length === 0 ? ['None in the console.'] : []),
    ...list(ordered, shown.problems, ({ first, count }) => {
      const kind = first.from === 'exception' ? 'exception' : first.level
      const where = first.source === undefined ? '' : ` at ${codeSpan(`${bare(first.source.url)}:${first.source.line}`, 80)}`
      return `${counted(count, kind)}: ${codeSpan(first.text, 160)}${where}`
    }),
  ]
}

function failures(network: readonly NetworkRequest[]): readonly string[] {
  if (network.length === 0) return []
  const failed = network.filter(({ status, failure }) => status >= 400 || failure !== undefined)
  const groups = grouped(failed, ({ method, url, status, failure }) => JSON.stringify([method, bare(url), status, failure]))
  return [
    '### Requests that failed',
    '',
    ...(groups.length === 0 ? ['None.'] : []),
    ...list(groups, shown.failures, ({ first, count }) => {
      const why = first.failure === undefined ? `status ${first.status}` : codeSpan(first.failure, 80)
      return `${codeSpan(`${first.method} ${bare(first.url)}`)}: ${why}, ${counted(count, 'time')}`
    }),
  ]
}

function performed(performance: readonly PagePerformance[]): readonly string[] {
  if (performance.length === 0) return []
  return [
    '### Performance',
    '',
    ...list(performance, shown.performance, ({ url, metrics }) => {
      const told = metrics.slice(0, 12).map(({ name, unit, value, baseline, verdict }) => {
        const before = baseline === undefined ? '' : ` (before ${amount(baseline, unit)}${verdict ? `, ${verdict}` : ''})`
        return `${name} ${amount(value, unit)}${before}`
      })
      return `${codeSpan(url)}: ${told.length === 0 ? 'nothing measured' : told.join(', ')}`
    }),
  ]
}

function accessibility(audits: readonly Audit[]): readonly string[] {
  if (audits.length === 0) return []
  // Only the newest audit of each page is current.
  const newest = new Map(audits.map((audit) => [bare(audit.url), audit] as const))
  const faults = [...newest.values()]
    .flatMap(({ url, faults: found }) => found.map((fault) => ({ url, fault })))
    .toSorted((a, b) => impacts.indexOf(a.fault.impact) - impacts.indexOf(b.fault.impact))
  return [
    '### Accessibility',
    '',
    ...(faults.length === 0 ? [`No faults on ${counted(newest.size, 'page')}.`] : []),
    ...list(faults, shown.faults, ({ url, fault: { impact, rule, help, count } }) => {
      return `${impact}: ${codeSpan(help)} (${codeSpan(rule, 40)}), ${counted(count, 'element')} on ${codeSpan(bare(url), 80)}`
    }),
  ]
}

/** Groups equal values, most frequent first. */
function grouped<T>(values: readonly T[], key: (value: T) => string): readonly { readonly first: T; readonly count: number }[] {
  const groups = new Map<string, { readonly first: T; count: number }>()
  for (const value of values) {
    const group = groups.get(key(value)) ?? { first: value, count: 0 }
    group.count += 1
    groups.set(key(value), group)
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count)
}

function amount(value: number, unit: 'ms' | ''): string {
  if (!Number.isFinite(value)) return '?'
  return unit === 'ms' ? `${Math.round(value)} ms` : String(Math.round(value * 1_000) / 1_000)
}

function bare(url: string): string {
  return url.replace(/[?#].*$/s, '')
}
