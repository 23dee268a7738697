import { named } from '../list/results.ts'
import type { Timing } from '../list/rounds.ts'
import { ratioText } from '../list/table.ts'
import { commandNames } from './commands.ts'
import { identityNames } from './identity.ts'
import type { Manner, Reconnecting } from './reconnecting.ts'

/** All that one run measured. */
export interface Results {
  readonly machine: { readonly node: string; readonly cores: number; readonly load: number }
  readonly reconnecting: readonly Reconnecting[]
  readonly commands: readonly Timing[]
  readonly identity: readonly Timing[]
  /** The version that was measured, if it could be. */
  readonly mcporter?: string
}

/** Something that must hold, and what was measured. */
export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly isMet: boolean
}

/** The bars this library sets itself, judged by one run. */
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

/** The largest share of a full list, over all ways. */
function worst(all: readonly Reconnecting[], manners: readonly Manner[], of: (each: Reconnecting) => number): number {
  return Math.max(...all.filter(({ manner }) => manners.includes(manner)).map((each) => of(each) / of(fullOf(all, each))))
}

/** Connecting in the same way without knowing the list. */
export function fullOf(all: readonly Reconnecting[], same: Reconnecting): Reconnecting {
  return all.find(({ way, manner }) => way === same.way && manner === 'full') ?? same
}

function bar(what: string, measured: number, limit: number): Bar {
  return { what, limit: ratioText(limit), measured: ratioText(measured), isMet: measured <= limit }
}
