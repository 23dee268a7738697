import { canonicalJson } from '@unfold-mcp/core'
import { sha256 } from '../base/sha256.ts'
import type { ProxiedCall } from '../middleware/chain.ts'
import { digestsOf } from '../trust/digest.ts'

/** What an approval applies to. */
interface Binding {
  readonly caller: string
  readonly server: string
  readonly tool: string
  readonly definitionDigest: string
  readonly argumentsDigest: string
  readonly policyDigest: string
}

export interface BoundCall extends Binding {
  /** Digest of the binding. */
  readonly key: string
}

/** Binds a call to its caller, its tool as defined now, its arguments and the policy. Throws for arguments that are not JSON. */
export function bind({ upstream, tool, input, client, ctx }: ProxiedCall, definition: object, policyDigest: string): BoundCall {
  const binding: Binding = {
    caller: callerOf(client, ctx.client?.name),
    server: upstream,
    tool,
    definitionDigest: digestsOf(definition).definition,
    argumentsDigest: digest(input),
    policyDigest,
  }
  return { ...binding, key: digest(binding) }
}

/** Hash of the session of a call. `instance`: the process that a session ends with. */
export const sessionOf = ({ ctx }: ProxiedCall, instance: string): string | undefined =>
  ctx.era === 'session' ? digest([instance, ctx.scope]).slice(0, 16) : undefined

/** The principal. Clients without a token are told apart by the name that they give themselves. */
function callerOf(client: ProxiedCall['client'], agent: string | undefined): string {
  const id = client?.id ?? 'anonymous'
  return client?.token === undefined && agent !== undefined ? `${id} (${agent.slice(0, 100)})` : id
}

/** SHA-256 of the canonical JSON. */
const digest = (value: unknown): string => Buffer.from(sha256(canonicalJson(value))).toString('hex')
