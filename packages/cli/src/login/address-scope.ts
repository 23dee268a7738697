import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * Where an address leads. `local`: this machine or its network link, with the metadata service of a cloud; `private`: the network
 * of an organisation or a home; `unusable`: multicast and reserved addresses.
 */
export type AddressScope = 'public' | 'private' | 'local' | 'unusable'

type Subnet = readonly [network: string, prefix: number]

const ipv4: { readonly [S in Exclude<AddressScope, 'public'>]: readonly Subnet[] } = {
  local: [
    ['127.0.0.0', 8],
    ['0.0.0.0', 8],
    ['169.254.0.0', 16],
  ],
  private: [
    ['10.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    // Carrier-grade NAT, also used by VPNs.
    ['100.64.0.0', 10],
    ['192.0.0.0', 24],
    ['198.18.0.0', 15],
  ],
  unusable: [
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
    ['192.0.2.0', 24],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
  ],
}

const ipv6: { readonly [S in AddressScope]: readonly Subnet[] } = {
  local: [
    ['::1', 128],
    ['::', 128],
    ['fe80::', 10],
  ],
  private: [
    ['fc00::', 7],
    ['fec0::', 10],
    // Teredo, and the local prefix of NAT64: the IPv4 address behind them is unknown.
    ['2001::', 32],
    ['64:ff9b:1::', 48],
  ],
  unusable: [['2001:db8::', 32]],
  public: [['2000::', 3]],
}

// IPv6 addresses that contain an IPv4 address: mapped, compatible, NAT64, 6to4.
const embeddings: readonly { readonly subnet: Subnet; readonly group: number }[] = [
  { subnet: ['::ffff:0:0', 96], group: 6 },
  { subnet: ['::ffff:0:0:0', 96], group: 6 },
  { subnet: ['64:ff9b::', 96], group: 6 },
  { subnet: ['2002::', 16], group: 1 },
  { subnet: ['::', 96], group: 6 },
]

function listOf(subnets: readonly Subnet[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family)
  return list
}

const scopes = ['local', 'private', 'unusable'] as const
const ipv4Lists = scopes.map((scope) => [scope, listOf(ipv4[scope], 'ipv4')] as const)
const ipv6Lists = ([...scopes, 'public'] as const).map((scope) => [scope, listOf(ipv6[scope], 'ipv6')] as const)
const localIpv6 = listOf(ipv6.local, 'ipv6')
const embeddingLists = embeddings.map(({ subnet, group }) => ({ group, list: listOf([subnet], 'ipv6') }))

/** Returns where an IP address leads. Anything that is not an IP address is `unusable`. */
export function addressScope(address: string): AddressScope {
  const plain = address.replace(/^\[|\]$/gu, '').replace(/%.*$/u, '')
  if (isIPv4(plain)) return ipv4Lists.find(([, list]) => list.check(plain, 'ipv4'))?.[0] ?? 'public'
  if (!isIPv6(plain)) return 'unusable'
  // Before the embedded addresses, because ::1 looks like one.
  if (localIpv6.check(plain, 'ipv6')) return 'local'
  const embedding = embeddingLists.find(({ list }) => list.check(plain, 'ipv6'))
  if (embedding !== undefined) return addressScope(embeddedIpv4(plain, embedding.group))
  return ipv6Lists.find(([, list]) => list.check(plain, 'ipv6'))?.[0] ?? 'unusable'
}

const loopbackV4 = listOf([['127.0.0.0', 8]], 'ipv4')

/** True for an address of this machine that no other machine can receive. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/gu, '')
  if (isIPv4(plain)) return loopbackV4.check(plain, 'ipv4')
  return isIPv6(plain) && (groupsOf(plain).join(':') === '0:0:0:0:0:0:0:1' || loopbackV4.check(plain, 'ipv6'))
}

function embeddedIpv4(address: string, group: number): string {
  const [high = 0, low = 0] = groupsOf(address).slice(group, group + 2)
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // The URL parser converts a dotted IPv4 part to groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const numbers = (text: string): readonly number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  if (tail === undefined) return numbers(head)
  const zeros = 8 - numbers(head).length - numbers(tail).length
  return [...numbers(head), ...Array<number>(zeros).fill(0), ...numbers(tail)]
}
