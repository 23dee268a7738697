import { printableText } from '@unfold-mcp/core'
import type { CallHandler, Middleware, ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import { DeniedError } from '../middleware/denied.ts'
import type { Ask, Verdict } from './verdict.ts'

export interface PolicyMiddlewareOptions {
  /** `undefined`: there is no policy. */
  readonly decide: (call: ProxiedCall) => Promise<Verdict> | undefined
  /** Default: nobody can be asked, so the call is denied. */
  readonly ask?: Ask | undefined
}

/** Applies the policy to every call, directly before it is sent. */
export function policyMiddleware({ decide, ask = nobody }: PolicyMiddlewareOptions): Middleware {
  const follow = async (deciding: Promise<Verdict>, call: ProxiedCall, next: CallHandler): Promise<ProxiedResult> => {
    const verdict = await deciding
    // A script may not do more than a person allowed, and nobody was asked so far.
    if (verdict.effect === 'allow')
      return verdict.rule === undefined && isUnconfirmed(call) ? ask(call, unconfirmed, next) : next(call)
    if (verdict.effect === 'ask') return ask(call, verdict, next)
    throw new DeniedError(
      call.tool,
      verdict.rule,
      `${ruleText(verdict)} denies it. Do not repeat it with these arguments.${reasonText(verdict)}`,
    )
  }
  return (call, next) => {
    const deciding = decide(call)
    if (deciding !== undefined) return follow(deciding, call, next)
    return isUnconfirmed(call) ? ask(call, unconfirmed, next) : next(call)
  }
}

const isUnconfirmed = ({ ctx }: ProxiedCall): boolean => ctx.script?.confirmation === 'missing'

const unconfirmed: Verdict = {
  effect: 'ask',
  rule: 'code.confirm',
  reason: 'A script makes this call, and the client cannot ask a person.',
}

const nobody: Ask = ({ tool }, verdict) =>
  Promise.reject(
    new DeniedError(
      tool,
      verdict.rule,
      `${ruleText(verdict)} requires the approval of a person, and nobody could be asked.${reasonText(verdict)}`,
    ),
  )

/** Names the rule that decided, for messages. */
export const ruleText = ({ rule }: Verdict): string => (rule === undefined ? 'the default of the policy' : `the rule ${rule}`)

/** Returns the author's reason as a sentence after a space, or nothing. */
export const reasonText = ({ reason }: Verdict): string => (reason === undefined ? '' : ` Reason: ${printableText(reason)}`)
