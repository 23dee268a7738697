import { named } from '../list/results.ts'
import type { Timing } from '../list/rounds.ts'
import { ratioText } from '../list/table.ts'
import { commandNames } from './commands.ts'
import { identityNames } from './identity.ts'
import type { ListSource, Reconnecting } from './reconnecting.ts'

/** Results of one run. */
export interface Results {
  readonly machine: { readonly node: string; readonly cores: number; readonly load: number }
  readonly reconnecting: readonly Reconnecting[]
  readonly commands: readonly Timing[]
  readonly identity: readonly Timing[]
  /** The measured version, if installed. */
  readonly mcporter?: string
}

/** A performance target with its measured value. */
export interface TargetResult {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly isMet: boolean
}

/** Compares the results of a run with the targets. */
export function targetsOf({ reconnecting, commands, identity, mcporter }: Results): readonly TargetResult[] {
  const bytes = ({ bytes: each }: Reconnecting): number => each
  const time = ({ p50 }: Reconnecting): number => p50
  const command = (name: string, to: string): number => named(commands, name).p50 / named(commands, to).p50
  const ratio = (name: string): number => named(identity, name).p50 / named(identity, identityNames.floor).p50
  const { help, complete, list, peerHelp, peerList, node } = commandNames
  return [
    target('bytes on reconnect, cached relative to full list', worst(reconnecting, ['memory', 'file'], bytes), 0.05),
    target('time over HTTP, cache in memory relative to full list', worst(overHttp(reconnecting), ['memory'], time), 0.25),
    target('time over HTTP, cache on disk relative to full list', worst(overHttp(reconnecting), ['file'], time), 0.25),
    target('unfold --help relative to node -e 0', command(help, node), 2.5),
    target('completion relative to node -e 0', command(complete, node), 1.3),
    ...(mcporter === undefined
      ? []
      : [
          target('unfold --help relative to mcporter --help', command(help, peerHelp), 1),
          target('list relative to mcporter list', command(list, peerList), 1),
        ]),
    target('identity of 1,000 tools relative to JSON.stringify and SHA-256', ratio(identityNames.all), 3),
    target('identity after one change relative to all', ratio(identityNames.one) / ratio(identityNames.all), 0.01),
  ]
}

const overHttp = (all: readonly Reconnecting[]): readonly Reconnecting[] =>
  all.filter(({ transport }) => transport.startsWith('HTTP'))

/** Returns the largest ratio to a full list, over all transports. */
function worst(all: readonly Reconnecting[], listSources: readonly ListSource[], of: (each: Reconnecting) => number): number {
  return Math.max(
    ...all.filter(({ listSource }) => listSources.includes(listSource)).map((each) => of(each) / of(fullOf(all, each))),
  )
}

/** Returns the result for the same transport without a cache. */
export function fullOf(all: readonly Reconnecting[], same: Reconnecting): Reconnecting {
  return all.find(({ transport, listSource }) => transport === same.transport && listSource === 'full') ?? same
}

function target(what: string, measured: number, limit: number): TargetResult {
  return { what, limit: ratioText(limit), measured: ratioText(measured), isMet: measured <= limit }
}
