import { BlockList, isIPv6 } from 'node:net'

const ranges: readonly (readonly [net: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  // These can embed an IPv4 address, including a private one.
  ['64:ff9b::', 96],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
]

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

const hidden = new BlockList()
for (const [net, prefix] of ranges) hidden.addSubnet(net, prefix, familyOf(net))

/** Returns whether the address is private or not unicast. Loopback is neither. */
export function isPrivate(address: string): boolean {
  return hidden.check(address, familyOf(address))
}
