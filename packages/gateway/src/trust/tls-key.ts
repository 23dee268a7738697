import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { connect } from 'node:tls'

const timeoutMs = 5_000

/**
 * Returns the SHA-256 of a server's public key; `undefined` without TLS, or if it cannot be read. Opens a connection of its own, because `fetch` does
 * not show certificates. It sends nothing and verifies nothing: the key is only compared with earlier ones.
 */
export function tlsKeyOf(address: string | URL): Promise<string | undefined> {
  const url = new URL(address)
  if (url.protocol !== 'https:') return Promise.resolve(undefined)
  return new Promise((resolve) => {
    const host = url.hostname.replaceAll(/^\[|\]$/gu, '')
    const servername = isIP(host) === 0 ? host : ''
    const socket = connect({ host, port: Number(url.port || 443), servername, rejectUnauthorized: false })
    const end = (key?: string): void => {
      socket.destroy()
      resolve(key)
    }
    socket.unref()
    socket.setTimeout(timeoutMs, end)
    socket.on('error', () => end())
    socket.on('secureConnect', () => {
      const key = socket.getPeerX509Certificate()?.publicKey.export({ type: 'spki', format: 'der' })
      end(key === undefined ? undefined : createHash('sha256').update(key).digest('hex'))
    })
  })
}
