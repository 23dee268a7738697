import type { Tool } from '@unfold-mcp/core'
import type { ScriptConsent } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { Verdict } from '../policy/verdict.ts'

/** A tool of a server, by its name there. */
export interface OwnTool {
  readonly server: string
  readonly tool: string
}

export interface GatewayConsentOptions {
  /** The verdict of the policy; `undefined`: there is no policy. */
  readonly decide: (
    call: OwnTool & { readonly input: Readonly<Record<string, unknown>>; readonly client: Client | undefined },
  ) => Promise<Verdict> | undefined
  /** True if the definition of a tool was accepted. */
  readonly isAccepted: (tool: OwnTool) => boolean
  readonly redact: (value: unknown) => unknown
}

/**
 * Decides about calls of scripts. A policy rule that applies replaces the question of `run_code`: the policy is applied when the call
 * is sent. Without one, annotations count only if their definition was accepted.
 */
export function gatewayConsent(
  { decide, isAccepted, redact }: GatewayConsentOptions,
  /** `undefined` for a tool of the gateway itself. */
  toolOf: (source: string, tool: Tool) => OwnTool | undefined,
): ScriptConsent {
  return {
    // Calls that nobody can be asked about wait in the queue of approvals.
    delegates: true,
    redact,
    async decide({ tool, source, arguments: input, principal }) {
      const own = toolOf(source, tool)
      if (own === undefined) return 'default'
      const verdict = await decide({ ...own, input, client: principal })
      if (verdict !== undefined && (verdict.rule !== undefined || verdict.effect !== 'allow')) return 'run'
      return isAccepted(own) ? 'default' : 'untrusted'
    },
  }
}
