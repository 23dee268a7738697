import { printable } from '@unfold-mcp/core'
import type { Clock } from '../time/clock.ts'
import { type Timing, timed } from '../time/request-timeout.ts'
import { type Relay, Relayed, relayParams } from './relay.ts'
import type { Link } from './session.ts'

export interface PassOptions extends Timing {
  /** Whoever the request is made for, where that is somebody else. */
  readonly relay?: Relay | undefined
}

interface Passed {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly clock: Clock
  readonly options: PassOptions
}

/** Sends a request that is no call, as it is, and returns its result as it came. */
export async function passed(link: Link, { method, params, clock, options }: Passed): Promise<unknown> {
  const { relay, onProgress } = options
  const relayed = relay === undefined ? undefined : new Relayed(relay)
  const extra = relay !== undefined && link.agreement.era === 'stateless' ? relayParams(relay) : {}
  const what = `Asking ${link.label} for ${printable(method)}`
  const isAsking = (): boolean => relayed?.isAsking === true
  const translated = link.translated.bind(link)
  return timed({ ...options, what, clock, isAsking, translated }, ({ onprogress, ...sending }) =>
    link.relays.during(relayed, () =>
      link.request(
        method,
        { ...params, ...extra },
        {
          what,
          ...sending,
          ...(onProgress !== undefined && { onprogress }),
          ...(relay !== undefined && { allowInputRequired: true }),
        },
      ),
    ),
  )
}
