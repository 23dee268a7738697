import type { Reason } from '@unfold-mcp/server'
import type { Headers, Piece } from './raw.ts'

/** A malformed or hostile request, and the required response. */
export interface Attack {
  /** Section and number in the list of attacks (`T` for tools, `R` for resource bounds), with a suffix for variants. */
  readonly id: `AT-${'A' | 'B' | 'F' | 'I' | 'R' | 'T'}${string}`
  readonly what: string
  readonly over: 'http' | 'stdio' | 'both'
  /** Sender: a client with a session, one of 2026-07-28, or one that sent no handshake. */
  readonly as: 'session' | 'stateless' | 'stranger'
  readonly send: Sent
  readonly expect: Outcome | { readonly http: Outcome; readonly stdio: Outcome }
}

/** A request, completed with an id and the fields of the sender's era; or raw bytes. */
export type Sent =
  | {
      readonly method: string
      readonly params?: Record<string, unknown>
      /** Added to or replacing the sender's headers; an empty value removes a header. */
      readonly headers?: Headers
      readonly query?: string
    }
  | { readonly body: () => string | Buffer; readonly headers?: Headers; readonly query?: string }
  | { readonly bytes: () => readonly Piece[] }

/** The required response. */
export type Outcome =
  /** A JSON-RPC error; errors from the SDK have no `reason`. */
  | {
      readonly kind: 'rejected'
      readonly code: number
      readonly reason?: Reason
      readonly status?: number
      readonly id?: string | number | null
      readonly matches?: RegExp
    }
  /** A result with `isError` and a message for the model. */
  | { readonly kind: 'failed'; readonly reason: Reason; readonly matches?: RegExp }
  /** A successful result. */
  | { readonly kind: 'answered'; readonly matches?: RegExp }
  /** No response, because it was not a request. */
  | { readonly kind: 'ignored' }
  /** A status without a message, or a closed connection. */
  | { readonly kind: 'dropped'; readonly status?: number }

type Rejection = Extract<Outcome, { kind: 'rejected' }>

export const rejected = (code: number, reason?: Reason, more: Omit<Rejection, 'kind' | 'code' | 'reason'> = {}): Rejection => ({
  kind: 'rejected',
  code,
  ...(reason !== undefined && { reason }),
  ...more,
})

export const failed = (reason: Reason, matches?: RegExp): Outcome => ({
  kind: 'failed',
  reason,
  ...(matches !== undefined && { matches }),
})

export const answered = (matches?: RegExp): Outcome => ({ kind: 'answered', ...(matches !== undefined && { matches }) })

export const ignored: Outcome = { kind: 'ignored' }

export const dropped = (status?: number): Outcome => ({ kind: 'dropped', ...(status !== undefined && { status }) })

export const call = (name: string, args?: Record<string, unknown>): Sent => ({
  method: 'tools/call',
  params: { name, ...(args !== undefined && { arguments: args }) },
})

/** Returns the attack for a client of each era. */
export const fromBoth = (attack: Omit<Attack, 'as'>): readonly Attack[] =>
  (['session', 'stateless'] as const).map((as) => ({ ...attack, as, id: `${attack.id}-${as}` }))
