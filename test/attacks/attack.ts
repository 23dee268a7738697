import type { Reason } from '@unfold-mcp/server'
import type { Headers, Piece } from './raw.ts'

/** Something a client may send that no client should, and what must come back. */
export interface Attack {
  /** The section and number in the list of attacks (`T` for tools), and a word where one of them has several forms. */
  readonly id: `AT-${'A' | 'B' | 'F' | 'I' | 'T'}${string}`
  readonly what: string
  readonly over: 'http' | 'stdio' | 'both'
  /** Who sends it: a client with a session, one of 2026-07-28, or somebody who never said hello. */
  readonly as: 'session' | 'stateless' | 'stranger'
  readonly send: Sent
  readonly expect: Outcome | { readonly http: Outcome; readonly stdio: Outcome }
}

/** A request, completed with an id and whatever its sender's era asks for; or bytes as they are. */
export type Sent =
  | {
      readonly method: string
      readonly params?: Record<string, unknown>
      /** Beside, or instead of, those that the sender would use; an empty one is left out. */
      readonly headers?: Headers
      readonly query?: string
    }
  | { readonly body: () => string | Buffer; readonly headers?: Headers; readonly query?: string }
  | { readonly bytes: () => readonly Piece[] }

/** What came back. */
export type Outcome =
  /** A JSON-RPC error. No reason: it is the SDK that answers. */
  | {
      readonly kind: 'refused'
      readonly code: number
      readonly reason?: Reason
      readonly status?: number
      readonly id?: string | number | null
      readonly says?: RegExp
    }
  /** A result that reports a failure in words for the model. */
  | { readonly kind: 'failed'; readonly reason: Reason; readonly says?: RegExp }
  /** A result. */
  | { readonly kind: 'answered'; readonly says?: RegExp }
  /** Nothing: it was no request. */
  | { readonly kind: 'ignored' }
  /** A status without a message, or none: it never was HTTP. */
  | { readonly kind: 'dropped'; readonly status?: number }

type Refusal = Extract<Outcome, { kind: 'refused' }>

export const refused = (code: number, reason?: Reason, more: Omit<Refusal, 'kind' | 'code' | 'reason'> = {}): Refusal => ({
  kind: 'refused',
  code,
  ...(reason !== undefined && { reason }),
  ...more,
})

export const failed = (reason: Reason, says?: RegExp): Outcome => ({
  kind: 'failed',
  reason,
  ...(says !== undefined && { says }),
})

export const answered = (says?: RegExp): Outcome => ({ kind: 'answered', ...(says !== undefined && { says }) })

export const ignored: Outcome = { kind: 'ignored' }

export const dropped = (status?: number): Outcome => ({ kind: 'dropped', ...(status !== undefined && { status }) })

/** A call of a tool. */
export const call = (name: string, args?: Record<string, unknown>): Sent => ({
  method: 'tools/call',
  params: { name, ...(args !== undefined && { arguments: args }) },
})

/** The same attack from a client of each era. */
export const fromBoth = (attack: Omit<Attack, 'as'>): readonly Attack[] =>
  (['session', 'stateless'] as const).map((as) => ({ ...attack, as, id: `${attack.id}-${as}` }))
