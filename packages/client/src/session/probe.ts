import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type DiscoverResult,
  type Implementation,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  type PriorDiscovery,
} from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'
import type { Clock } from '../time/clock.ts'
import type { StdioTransport } from '../transports/stdio.ts'

export const statelessRevision = '2026-07-28'

export interface ProbeOptions {
  readonly clientInfo: Implementation
  readonly capabilities: ClientCapabilities
  readonly clock: Clock
  /** How long a server may say nothing before it is asked whether it is there. */
  readonly quietMs?: number
}

const discoverId = 'unfold:discover'
const pingId = 'unfold:ping'
const graceMs = 500

/**
 * Finds out what a process speaks, by asking `server/discover` of the very process that will be used. A session-era server
 * answers that it does not know that, or says nothing; so does one that is still starting. A `ping`, which every server of
 * that era answers, tells these two apart. Rejects when the process ends.
 */
export async function probe(transport: StdioTransport, options: ProbeOptions): Promise<PriorDiscovery> {
  const { clock, quietMs = 2_000 } = options
  await transport.start()
  let off: () => void = () => undefined
  const asked = new Set<string>()
  const answers = new Set<unknown>()
  const ask = (message: JSONRPCMessage & { readonly id: string }): Promise<void> => {
    asked.add(message.id)
    return transport.send(message)
  }
  try {
    return await new Promise<PriorDiscovery>((resolve, reject) => {
      const later = (ms: number, run: () => void): void => {
        off()
        off = clock.after(ms, run)
      }
      transport.onclose = () => reject(transport.failure ?? new Error('It was closed.'))
      transport.onmessage = (message) => {
        const answered = idOf(message)
        answers.add(answered)
        if (answered === discoverId) resolve(priorOf(message))
        if (answered === pingId) later(graceMs, () => resolve({ kind: 'legacy' }))
      }
      later(quietMs, () => {
        // With the same envelope: without it, a server of 2026-07-28 that was slow to start would take us for another era.
        ask({ jsonrpc: '2.0', id: pingId, method: 'ping', params: { _meta: envelopeOf(options) } }).catch(reject)
      })
      ask(discoverRequest(options)).catch(reject)
    })
  } finally {
    off()
    delete transport.onclose
    delete transport.onmessage
    // One that was slow to start answers both, the second when nobody waits for it any more.
    transport.ignore([...asked].filter((id) => !answers.has(id)))
  }
}

function discoverRequest(options: ProbeOptions): JSONRPCMessage & { readonly id: string } {
  return { jsonrpc: '2.0', id: discoverId, method: 'server/discover', params: { _meta: envelopeOf(options) } }
}

const envelopeOf = ({ clientInfo, capabilities }: ProbeOptions) => ({
  [PROTOCOL_VERSION_META_KEY]: statelessRevision,
  [CLIENT_INFO_META_KEY]: clientInfo,
  [CLIENT_CAPABILITIES_META_KEY]: capabilities,
})

const idOf = (message: JSONRPCMessage): unknown => ('method' in message ? undefined : message.id)

function priorOf(message: JSONRPCMessage): PriorDiscovery {
  const result: unknown = 'result' in message ? message.result : undefined
  const versions = isRecord(result) ? result.supportedVersions : undefined
  if (!Array.isArray(versions) || !versions.includes(statelessRevision)) return { kind: 'legacy' }
  // The SDK checks the rest of it when it is given this.
  return { kind: 'modern', discover: result as DiscoverResult }
}
