import { named } from '../list/results.ts'
import type { Timing } from '../list/rounds.ts'
import { ratioText } from '../list/table.ts'
import { commandNames } from './commands.ts'
import { identityNames } from './identity.ts'
import type { Manner, Reconnecting } from './reconnecting.ts'

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
export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly isMet: boolean
}

/** Compares the results of a run with the targets. */
export function barsOf({ reconnecting, commands, identity, mcporter }: Results): readonly Bar[] {
  const bytes = ({ bytes: each }: Reconnecting): number => each
  const time = ({ p50 }: Reconnecting): number => p50
  const command = (name: string, to: string): number => named(commands, name).p50 / named(commands, to).p50
  const ratio = (name: string): number => named(identity, name).p50 / named(identity, identityNames.floor).p50
  const { help, complete, list, peerHelp, peerList, node } = commandNames
  return [
    bar('bytes of reconnecting, cache to full list', worst(reconnecting, ['memory', 'file'], bytes), 0.05),
    bar('time over HTTP, cache in memory to full list', worst(overHttp(reconnecting), ['memory'], time), 0.25),
    bar('time over HTTP, cache on disk to full list', worst(overHttp(reconnecting), ['file'], time), 0.25),
    bar('unfold --help to node -e 0', command(help, node), 2.5),
    bar('completion to node -e 0', command(complete, node), 1.3),
    ...(mcporter === undefined
      ? []
      : [
          bar('unfold --help to mcporter --help', command(help, peerHelp), 1),
          bar('list to mcporter list', command(list, peerList), 1),
        ]),
    bar('identity of 1,000 tools to JSON.stringify and SHA-256', ratio(identityNames.all), 3),
    bar('identity after one change to that of all', ratio(identityNames.one) / ratio(identityNames.all), 0.01),
  ]
}

const overHttp = (all: readonly Reconnecting[]): readonly Reconnecting[] => all.filter(({ way }) => way.startsWith('HTTP'))

/** Returns the largest ratio to a full list, over all transports. */
function worst(all: readonly Reconnecting[], manners: readonly Manner[], of: (each: Reconnecting) => number): number {
  return Math.max(...all.filter(({ manner }) => manners.includes(manner)).map((each) => of(each) / of(fullOf(all, each))))
}

/** Returns the result for the same transport without a cache. */
export function fullOf(all: readonly Reconnecting[], same: Reconnecting): Reconnecting {
  return all.find(({ way, manner }) => way === same.way && manner === 'full') ?? same
}

function bar(what: string, measured: number, limit: number): Bar {
  return { what, limit: ratioText(limit), measured: ratioText(measured), isMet: measured <= limit }
}
