import type { Target } from '@unfold-mcp/client'
import type { TrustGate } from '../trust/gate.ts'
import { commandDigest } from '../trust/run.ts'
import { tlsKeyOf } from '../trust/tls-key.ts'
import { publicUrl } from '../upstreams/address.ts'

/** Records what was started or contacted for a server, and the version that it reports. */
export async function recordRun(trust: TrustGate, server: string, target: Target, version: string): Promise<void> {
  const command = 'command' in target ? commandDigest(target.command, target.args ?? []) : undefined
  const url = 'url' in target ? publicUrl(target.url) : undefined
  trust.ran(server, { version, ...(command !== undefined && { command }), ...(url !== undefined && { url }) })
  const tlsKey = 'url' in target ? await tlsKeyOf(target.url) : undefined
  if (tlsKey !== undefined) trust.ran(server, { tlsKey })
}
