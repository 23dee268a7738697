import { request } from 'node:http'
import type { Duplex } from 'node:stream'
import { bridgeAuthority, bridgeHeaders } from '@unfold-mcp/gateway/bridge'
import type { RunRecord } from '@unfold-mcp/gateway/run-file'

/** Profile and view of a stdio client; over HTTP, the path and query of the URL. */
export interface ClientView {
  readonly profile: string | undefined
  readonly view: string | undefined
}

/** The gateway rejected the client. */
export class BridgeRefused extends Error {
  override readonly name = 'BridgeRefused'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Connects to a running gateway as a stdio client of the same user. */
export function openBridge({ url, bridge }: RunRecord, { profile, view }: ClientView, signal: AbortSignal): Promise<Duplex> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const connectRequest = request({
      method: 'CONNECT',
      host: hostname.replace(/^\[(.*)\]$/u, '$1'),
      port,
      path: bridgeAuthority,
      // The connection stays open, so it must not come from a pool.
      agent: false,
      signal,
      headers: {
        host: new URL(url).host,
        authorization: `Bearer ${bridge}`,
        ...(profile !== undefined && { [bridgeHeaders.profile]: encodeURIComponent(profile) }),
        ...(view !== undefined && { [bridgeHeaders.view]: view }),
      },
    })
    connectRequest.once('error', reject)
    connectRequest.once('connect', ({ statusCode = 0, headers }, socket, head) => {
      if (statusCode === 200) {
        socket.setNoDelay(true)
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
        return
      }
      socket.destroy()
      const problem = headers[bridgeHeaders.problem]
      reject(new BridgeRefused(statusCode, typeof problem === 'string' ? decodeURIComponent(problem) : `HTTP ${statusCode}`))
    })
    connectRequest.once('response', ({ statusCode = 0 }) => {
      connectRequest.destroy()
      reject(new BridgeRefused(statusCode, `HTTP ${statusCode}`))
    })
    connectRequest.end()
  })
}
