import { named } from '../list/results.ts'
import type { Timing } from '../list/rounds.ts'
import { countText, ratioText, sizeText, tableOf, timeText } from '../list/table.ts'
import { referenceSize } from '../list/tools.ts'
import { commandNames } from './commands.ts'
import { identityNames } from './identity.ts'
import { listSources } from './reconnecting.ts'
import { fullOf, type Results, targetsOf } from './targets.ts'

/** Renders the results as text. */
export function reportOf(results: Results): string {
  const { machine, reconnecting, commands, identity, mcporter } = results
  const rows = reconnecting.map((each) => {
    const full = fullOf(reconnecting, each)
    const { transport, listSource, p50, p99, bytes, samples } = each
    const shares = [ratioText(p50 / full.p50), sizeText(bytes), ratioText(bytes / full.bytes)]
    return [transport, listSources[listSource], timeText(p50), timeText(p99), ...shares, countText(samples)]
  })
  const headings = ['transport', 'tools from', 'p50', 'p99', '× full', 'bytes', '× full', 'samples']
  const targets = targetsOf(results).map(({ what, limit, measured, isMet }) => [
    isMet ? 'met' : 'MISSED',
    what,
    measured,
    `≤ ${limit}`,
  ])
  const peer = mcporter === undefined ? 'mcporter not installed' : `mcporter ${mcporter}`
  return [
    `Node ${machine.node}, ${machine.cores} cores, load ${machine.load.toFixed(1)}, ${peer}.`,
    `reconnecting to a server with ${countText(referenceSize)} tools\n${tableOf(headings, rows, 2)}`,
    `run time of commands\n${against(commands, commandNames.node, '× node')}`,
    `identity of ${countText(referenceSize)} tools\n${against(identity, identityNames.floor, '× floor')}`,
    `targets\n${tableOf(['', 'target', 'measured', 'limit'], targets, 2)}`,
  ].join('\n\n')
}

function against(timings: readonly Timing[], reference: string, heading: string): string {
  const base = named(timings, reference).p50
  const rows = timings.map(({ name, p50, p99, samples }) => [
    name,
    timeText(p50),
    timeText(p99),
    ratioText(p50 / base),
    countText(samples),
  ])
  return tableOf(['', 'p50', 'p99', heading, 'samples'], rows)
}
