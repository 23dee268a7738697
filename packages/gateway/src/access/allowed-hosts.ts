import { hostname, networkInterfaces } from 'node:os'
import { isWildcardHost } from '../config/address.ts'
import { isLoopback } from '../config/rules.ts'

const loopback = ['localhost', '127.0.0.1', '[::1]']

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)

/** Values accepted in the Host header: the names of this machine, and the configured ones. */
export function allowedHosts(host: string, allowed: readonly string[]): readonly string[] {
  if (isLoopback(host)) return [...loopback, ...allowed]
  const own = isWildcardHost(host)
    ? [
        hostname().toLowerCase(),
        ...Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => bracketed(address)) ?? []),
      ]
    : [bracketed(host.replace(/^\[(.*)\]$/u, '$1'))]
  return [...new Set([...loopback, ...own, ...allowed])]
}
