import { type HttpTiming, httpNames } from './http.ts'
import { localNames } from './in-process.ts'
import { memoryNames } from './memory.ts'
import { named, type Results } from './results.ts'
import { ratioText, sizeText, timeText } from './table.ts'
import { referenceSize } from './tools.ts'
import type { Method } from './wire.ts'

/** A performance target with its measured value. */
export interface TargetResult {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly isMet: boolean
}

const slack = 1.05

/** Compares the results of a run with the targets. */
export function targetsOf({ http, cachedList, changedList, memory }: Results): readonly TargetResult[] {
  const cached = Math.max(named(cachedList, localNames.session).p50, named(cachedList, localNames.stateless).p50)
  const changed = named(changedList, localNames.list).p99
  const weight = Math.max(named(memory, memoryNames.plain).bytes, named(memory, memoryNames.grouped).bytes)
  const atBar = http.filter(({ size }) => size === referenceSize)
  const ours = [httpNames.plain, httpNames.open, httpNames.fresh]
  const ratios = (what: string, ratio: number): TargetResult => target(what, ratio, slack, ratioText)
  return [
    target('list from cache in process, 1,000 tools, p50', cached, 20, timeText),
    target('list after an activation, 1,000 tools in 50 groups, p99', changed, 1_000, timeText),
    ratios('list over HTTP, 1,000 tools, p50 to the fastest SDK server', worst(atBar, 'tools/list', ours)),
    ratios('call over HTTP, 1,000 tools, p50 to the fastest SDK server', worst(atBar, 'tools/call', ours)),
    ratios('toolbox without groups, 1,000 tools, p50 of list to the SDK', worst(atBar, 'tools/list', [httpNames.plain])),
    ratios('toolbox without groups, 1,000 tools, p50 of call to the SDK', worst(atBar, 'tools/call', [httpNames.plain])),
    target('memory of an idle session, 1,000 tools', weight, 20_000, sizeText),
  ]
}

function target(what: string, measured: number, limit: number, text: (value: number) => string): TargetResult {
  return { what, limit: text(limit), measured: text(measured), isMet: measured <= limit }
}

/** Returns the largest ratio to the fastest SDK server over both eras. */
function worst(timings: readonly HttpTiming[], method: Method, contenders: readonly string[]): number {
  const measured = timings.filter((timing) => timing.method === method && contenders.includes(timing.name))
  return Math.max(...measured.map((timing) => timing.p50 / fastestSdk(timings, timing).p50))
}

/** Returns the fastest SDK server in the same measurement. */
export function fastestSdk(timings: readonly HttpTiming[], same: HttpTiming): HttpTiming {
  const servers = peers(timings, same).filter(({ name }) => name === httpNames.sdkServer || name === httpNames.sdkMcp)
  return servers.reduce((fastest, server) => (server.p50 < fastest.p50 ? server : fastest))
}

/** Returns all contenders of the same measurement. */
export function peers(timings: readonly HttpTiming[], { size, era, method }: HttpTiming): readonly HttpTiming[] {
  return timings.filter((timing) => timing.size === size && timing.era === era && timing.method === method)
}
