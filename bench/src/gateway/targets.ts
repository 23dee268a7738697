import { named } from '../list/results.ts'
import type { Timing } from '../list/rounds.ts'
import { ratioText, timeText } from '../list/table.ts'
import { referenceSize } from '../list/tools.ts'
import { type CallTiming, callNames } from './calls.ts'
import type { Burst, Freshness } from './changes.ts'
import type { Fairness } from './fairness.ts'
import { names } from './gateways.ts'
import { type Recovery, type Start, startNames } from './life.ts'
import { type ListTiming, listNames } from './lists.ts'
import type { Weight } from './memory.ts'

/** Results of one run. */
export interface Results {
  readonly machine: { readonly node: string; readonly cores: number; readonly load: number }
  /** Versions of the installed peers. */
  readonly versions: { readonly [peer: string]: string }
  readonly lists: readonly ListTiming[]
  readonly calls: readonly CallTiming[]
  readonly fairness: Fairness
  readonly changes: readonly Freshness[]
  readonly search: Timing
  readonly bursts: readonly Burst[]
  readonly starts: readonly Start[]
  readonly recoveries: readonly Recovery[]
  readonly memory: readonly Weight[] | undefined
}

/** A performance target with its measured value. */
export interface TargetResult {
  readonly what: string
  readonly limit: string
  readonly measured: string
  /** `undefined` without a peer to compare with. */
  readonly isMet: boolean | undefined
}

/** Compares the results of a run with the targets. */
export function targetsOf(results: Results): readonly TargetResult[] {
  const { calls, fairness, changes, search, bursts, starts, recoveries } = results
  const burst = bursts.filter(({ name, gapMs }) => name === names.unfold && gapMs === 0)
  const most = (of: (each: Burst) => number): number => Math.max(...burst.map(of))
  const recovered = recoveries.find(({ name }) => name === names.unfold)?.times?.p99
  return [
    ratio('list of 1,000 tools, p50 relative to the best peer', listRatio(results), 0.5),
    ...[1, 8, 32].map((callers) =>
      ratio(`latency added to a call, ${callers} concurrent, p50 relative to mcp-hub`, addedRatio(calls, callers), 0.5),
    ),
    ratio('latency of a call while another client is at its limits, p50 relative to an idle gateway', fairnessRatio(fairness), 2),
    time('time until a client lists a change, p95', named(changes, names.unfold).listed.p95, 100_000),
    time('time until search finds a change, p95', search.p95, 100_000),
    count(
      'notifications to a client for a burst of 20 changes',
      most(({ notifications }) => notifications),
      1,
    ),
    count(
      'tools/list requests to the upstream for a burst of 20 changes',
      most(({ lists }) => lists),
      2,
    ),
    ratio('start with 20 servers until a client is served, p50 relative to mcp-hub', readyRatio(starts), 0.5),
    time('restart until a client has all 1,000 tools, p50', named(starts, startNames.again).all.p50, 500_000),
    time('time until a call succeeds after SIGKILL, maximum', recovered ?? Number.POSITIVE_INFINITY, 2_000_000),
  ]
}

/** Returns the ratio of our slower list to the list of the fastest peer. */
function listRatio({ lists, versions }: Results): number | undefined {
  const large = lists.filter(({ size }) => size === referenceSize)
  const peers = large.filter(({ name }) => name in versions)
  if (peers.length === 0) return undefined
  const ours = Math.max(named(large, listNames.unfold).p50, named(large, listNames.stateless).p50)
  return ours / Math.min(...peers.map(({ p50 }) => p50))
}

/** Returns the latency that a gateway adds to a call. */
export function addedTo(
  calls: readonly CallTiming[],
  { name, callers }: Pick<CallTiming, 'name' | 'callers'>,
): { readonly p50: number; readonly p99: number } {
  const same = calls.filter((each) => each.callers === callers)
  const [through, direct] = [named(same, name), named(same, callNames.direct)]
  return { p50: through.p50 - direct.p50, p99: through.p99 - direct.p99 }
}

function addedRatio(calls: readonly CallTiming[], callers: number): number | undefined {
  if (!calls.some(({ name }) => name === names.hub)) return undefined
  return addedTo(calls, { name: callNames.unfold, callers }).p50 / addedTo(calls, { name: callNames.hub, callers }).p50
}

const fairnessRatio = ({ alone, crowded }: Fairness): number => crowded.p50 / alone.p50

function readyRatio(starts: readonly Start[]): number | undefined {
  const hub = starts.find(({ name }) => name === names.hub)
  return hub === undefined ? undefined : named(starts, names.unfold).served.p50 / hub.served.p50
}

function ratio(what: string, measured: number | undefined, limit: number): TargetResult {
  const isMet = measured === undefined ? undefined : measured <= limit
  return {
    what,
    limit: ratioText(limit),
    measured: measured === undefined ? 'no peer installed' : ratioText(measured),
    isMet,
  }
}

function time(what: string, measured: number, limit: number): TargetResult {
  const text = Number.isFinite(measured) ? timeText(measured) : 'never'
  return { what, limit: timeText(limit), measured: text, isMet: measured <= limit }
}

function count(what: string, measured: number, limit: number): TargetResult {
  return { what, limit: String(limit), measured: String(measured), isMet: measured <= limit }
}
