import { printable } from '@unfold-mcp/core'
import type { Clock } from '../time/clock.ts'
import { type TimeoutOptions, withRequestTimeout } from '../time/request-timeout.ts'
import { type Relay, RelayedRequest, relayParams } from './relay.ts'
import type { Session } from './session.ts'

export interface ForwardOptions extends TimeoutOptions {
  /** Client that the request is made for, in a proxy. */
  readonly relay?: Relay | undefined
}

interface ForwardedRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly clock: Clock
  readonly options: ForwardOptions
}

/** Forwards a request unchanged and returns its raw result. */
export async function forwardRequest(session: Session, { method, params, clock, options }: ForwardedRequest): Promise<unknown> {
  const { relay, onProgress } = options
  const relayed = relay === undefined ? undefined : new RelayedRequest(relay)
  const extra = relay !== undefined && session.agreement.era === 'stateless' ? relayParams(relay) : {}
  const what = printable(method)
  const isWaitingForUser = (): boolean => relayed?.isWaitingForUser === true
  const toClientError = session.toClientError.bind(session)
  return withRequestTimeout({ ...options, what, clock, isWaitingForUser, toClientError }, ({ onprogress, ...sending }) =>
    session.relays.run(relayed, () =>
      session.request(
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
