import type { CallHandler, ProxiedCall, ProxiedResult } from '../middleware/chain.ts'

/** What a rule does with a call. */
export type Effect = 'allow' | 'deny' | 'ask'

/** Decision of the policy about one call. */
export interface Verdict {
  readonly effect: Effect
  /** The rule that decided, such as `policy.rules[2]`; `undefined`: the default. */
  readonly rule: string | undefined
  /** Text of the rule's author for the caller, or for the person who is asked. */
  readonly reason: string | undefined
}

/** Asks a person about a call. Sends it with `next` if it is approved; rejects with a failure for the client otherwise. */
export type Ask = (call: ProxiedCall, verdict: Verdict, next: CallHandler) => Promise<ProxiedResult>
