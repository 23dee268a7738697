import { named } from '../list/results.ts'
import { countText, ratioText, sizeText, tableOf, timeText } from '../list/table.ts'
import { callNames } from './calls.ts'
import { names } from './gateways.ts'
import { recoveryTimeoutMs } from './life.ts'
import { listNames } from './lists.ts'
import { clientCount } from './memory.ts'
import { addedTo, type Results, targetsOf } from './targets.ts'

/** Renders the results as text. */
export function reportOf(results: Results): string {
  const { machine, versions } = results
  const peers = [names.hub, names.proxy].map((name) =>
    versions[name] === undefined ? `${name} not installed` : `${name} ${versions[name]}`,
  )
  const targets = targetsOf(results).map(({ what, limit, measured, isMet }) => [verdict(isMet), what, measured, `≤ ${limit}`])
  return [
    `Node ${machine.node}, ${machine.cores} cores, load ${machine.load.toFixed(1)}; ${peers.join('; ')}.`,
    `tools/list (${names.proxy} and direct: all tools on one server)\n${listsTable(results)}`,
    `tools/call, and the latency added by the gateway\n${callsTable(results)}`,
    `tools/call of one client while another is at its limits\n${fairnessTable(results)}`,
    `time from a change of an upstream; the client re-lists when notified\n${changesTable(results)}`,
    `burst of 20 changes, maximum; the client re-lists when notified\n${burstsTable(results)}`,
    `start with 20 servers until a client gets the first tools, and all tools\n${startsTable(results)}`,
    `time from SIGKILL of an upstream until a call succeeds\n${recoveriesTable(results)}`,
    `memory with 1,000 tools, without clients and with ${clientCount} clients\n${memoryTable(results)}`,
    `targets\n${tableOf(['', 'target', 'measured', 'limit'], targets, 2)}`,
  ].join('\n\n')
}

const verdict = (isMet: boolean | undefined): string => (isMet === undefined ? '' : isMet ? 'met' : 'MISSED')

function listsTable({ lists }: Results): string {
  const rows = lists.map(({ name, size, listed, bytes, p50, p95, samples }) => {
    const base = named(
      lists.filter((each) => each.size === size),
      listNames.direct,
    )
    return [
      countText(size),
      name,
      countText(listed),
      sizeText(bytes),
      timeText(p50),
      timeText(p95),
      ratioText(p50 / base.p50),
      countText(samples),
    ]
  })
  return tableOf(['tools', '', 'listed', 'bytes', 'p50', 'p95', '× direct', 'samples'], rows, 2)
}

function callsTable({ calls }: Results): string {
  const hasHub = calls.some(({ name }) => name === names.hub)
  const rows = calls.map((each) => {
    const { name, callers, p50, p99, perSecond } = each
    const added = addedTo(calls, each)
    const toHub = hasHub ? ratioText(added.p50 / addedTo(calls, { name: names.hub, callers }).p50) : ''
    const more = name === callNames.direct ? ['', '', ''] : [timeText(added.p50), timeText(added.p99), toHub]
    return [String(callers), name, timeText(p50), timeText(p99), ...more, countText(Math.round(perSecond))]
  })
  return tableOf(['callers', '', 'p50', 'p99', 'added p50', 'added p99', '× mcp-hub', 'calls/s'], rows, 2)
}

function fairnessTable({ fairness }: Results): string {
  const { alone, crowded, slowCalls, refused } = fairness
  const rows = [alone, crowded].map(({ name, p50, p95, samples }) => [name, timeText(p50), timeText(p95), countText(samples)])
  const ratios = ['ratio', ratioText(crowded.p50 / alone.p50), ratioText(crowded.p95 / alone.p95), '']
  const note = `The other client has ${slowCalls} concurrent calls that take a second; ${refused} of them were refused at first.`
  return `${tableOf(['', 'p50', 'p95', 'samples'], [...rows, ratios])}\n${note}`
}

function changesTable({ changes, search }: Results): string {
  const rows = changes.map(({ name, notified, listed }) => {
    const found = name === names.unfold ? [timeText(search.p50), timeText(search.p95)] : [unsupported, unsupported]
    return [name, timeText(notified.p50), timeText(notified.p95), timeText(listed.p50), timeText(listed.p95), ...found]
  })
  return `${tableOf(['', 'notified p50', 'p95', 'listed p50', 'p95', 'found by search p50', 'p95'], rows)}\n${unsupported}: no search`
}

const unsupported = '–'

function burstsTable({ bursts }: Results): string {
  const gap = (gapMs: number): string => (gapMs === 0 ? 'none' : `${gapMs} ms`)
  const rows = bursts.map(({ name, gapMs, notifications, lists }) => [gap(gapMs), name, String(notifications), String(lists)])
  return tableOf(['gap', '', 'notifications', 'tools/list requests'], rows, 2)
}

function startsTable({ starts }: Results): string {
  const hub = starts.find(({ name }) => name === names.hub)
  const label = (name: string): string => (name === names.proxy ? `${name}, one server` : name)
  const rows = starts.map(({ name, served, all }) => [
    label(name),
    timeText(served.p50),
    timeText(served.p95),
    ratioText(hub === undefined ? undefined : served.p50 / hub.served.p50),
    timeText(all.p50),
    timeText(all.p95),
    ratioText(hub === undefined ? undefined : all.p50 / hub.all.p50),
    countText(all.samples),
  ])
  const headings = ['', 'first tools p50', 'p95', '× mcp-hub', 'all tools p50', 'p95', '× mcp-hub', 'samples']
  const note = 'The peers have no cache, so every start is a first start.'
  return `${tableOf(headings, rows)}\n${note}`
}

function recoveriesTable({ recoveries }: Results): string {
  const rows = recoveries.map(({ name, times }) => {
    if (times === undefined) return [name, `not within ${recoveryTimeoutMs / 1_000} s`, '', '']
    return [name, timeText(times.p50), timeText(times.p99), countText(times.samples)]
  })
  return tableOf(['', 'p50', 'max', 'samples'], rows)
}

function memoryTable({ memory }: Results): string {
  if (memory === undefined) return 'not measured: not supported on this platform'
  const rows = memory.map(({ name, alone, busy }) => [
    name,
    sizeText(alone),
    sizeText(busy),
    sizeText((busy - alone) / clientCount),
  ])
  return tableOf(['', 'no clients', 'with clients', 'per client'], rows)
}
