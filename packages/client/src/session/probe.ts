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
  /** Silence before a `ping` is sent. Default: 2 000. */
  readonly quietMs?: number
}

const discoverId = 'unfold:discover'
const pingId = 'unfold:ping'
const graceMs = 500

/**
 * Detects the protocol era of a process with `server/discover`, in the process that will be used. A session-era server responds
 * with an error or not at all, and so does one that is still starting. A `ping`, which every session-era server answers, tells
 * these apart. Rejects when the process exits.
 */
export async function probe(transport: StdioTransport, options: ProbeOptions): Promise<PriorDiscovery> {
  const { clock, quietMs = 2_000 } = options
  await transport.start()
  let off: () => void = () => undefined
  const sentIds = new Set<string>()
  const answeredIds = new Set<unknown>()
  const send = (message: JSONRPCMessage & { readonly id: string }): Promise<void> => {
    sentIds.add(message.id)
    return transport.send(message)
  }
  try {
    return await new Promise<PriorDiscovery>((resolve, reject) => {
      const later = (ms: number, run: () => void): void => {
        off()
        off = clock.after(ms, run)
      }
      transport.onclose = () => reject(transport.failure ?? new Error('Connection closed'))
      transport.onmessage = (message) => {
        const id = responseId(message)
        answeredIds.add(id)
        if (id === discoverId) resolve(parseDiscovery(message))
        if (id === pingId) later(graceMs, () => resolve({ kind: 'legacy' }))
      }
      later(quietMs, () => {
        // Without the envelope, a slow 2026-07-28 server would take this client for a session-era one.
        send({ jsonrpc: '2.0', id: pingId, method: 'ping', params: { _meta: envelopeOf(options) } }).catch(reject)
      })
      send(discoverRequest(options)).catch(reject)
    })
  } finally {
    off()
    delete transport.onclose
    delete transport.onmessage
    // A slow server answers both; the second response is late.
    transport.ignore([...sentIds].filter((id) => !answeredIds.has(id)))
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

const responseId = (message: JSONRPCMessage): unknown => ('method' in message ? undefined : message.id)

function parseDiscovery(message: JSONRPCMessage): PriorDiscovery {
  const result: unknown = 'result' in message ? message.result : undefined
  const versions = isRecord(result) ? result.supportedVersions : undefined
  if (!Array.isArray(versions) || !versions.includes(statelessRevision)) return { kind: 'legacy' }
  // The SDK validates the rest.
  return { kind: 'modern', discover: result as DiscoverResult }
}
