import { BlockList, isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { Host } from './host.ts'

/** Returns a function that tells whether a host is in a list of names, `*.` domains, addresses and networks. */
export function hostList(entries: readonly string[]): (host: Host) => boolean {
  const networks = new BlockList()
  const names = new Set<string>()
  const domains: string[] = []
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const version = isIP(address)
    if (version !== 0) networks.addSubnet(address, Number(bits ?? (version === 4 ? 32 : 128)), version === 4 ? 'ipv4' : 'ipv6')
    else if (entry.startsWith('*.')) domains.push(`.${plainName(entry.slice(2))}`)
    else names.add(plainName(entry))
  }
  return ({ kind, value }) => {
    if (kind !== 'name') return networks.check(value, kind)
    if (names.has(value) || domains.some((domain) => value.endsWith(domain))) return true
    // Resolved without DNS.
    const isLocal = value === 'localhost' || value.endsWith('.localhost')
    return isLocal && (networks.check('127.0.0.1') || networks.check('::1', 'ipv6'))
  }
}

const plainName = (name: string): string => domainToASCII(name).replace(/\.$/u, '')
