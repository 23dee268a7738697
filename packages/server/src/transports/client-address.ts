import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Addresses and networks (`10.0.0.0/8`) of reverse proxies. Throws for anything else. */
export class TrustedProxies {
  readonly #list = new BlockList()
  readonly #isEmpty: boolean

  constructor(proxies: readonly string[]) {
    this.#isEmpty = proxies.length === 0
    for (const proxy of proxies) {
      const { address, family, prefix } = parseNetwork(proxy)
      this.#list.addSubnet(address, prefix, family)
    }
  }

  includes(address: string): boolean {
    if (this.#isEmpty) return false
    const family = familyOf(address)
    return family !== undefined && this.#list.check(address, family)
  }

  /**
   * Returns the address of the client. Forwarded addresses count only if they come from a trusted proxy: from the right, the first
   * that is not a trusted proxy itself.
   */
  clientAddress({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string | undefined {
    const peer = plainAddress(socket.remoteAddress)
    if (peer === undefined || !this.includes(peer)) return peer
    const clients = [forwardedFor(headers['x-forwarded-for']), forwarded(headers.forwarded)].flatMap((hops) =>
      hops === undefined ? [] : [this.#clientOf(hops)],
    )
    // Proxies set one of the headers. Where both name different clients, one of them was sent by the client itself.
    const [client] = clients
    return client === undefined || clients.some((each) => each !== client) ? peer : client
  }

  /** Returns whether the client used TLS. The statement of a proxy counts only if the proxy is trusted. */
  isSecure({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): boolean {
    if ('encrypted' in socket && socket.encrypted === true) return true
    const peer = plainAddress(socket.remoteAddress)
    if (peer === undefined || !this.includes(peer)) return false
    // From the right: the part before was sent by the client itself.
    return hopsOf(headers['x-forwarded-proto'])?.at(-1)?.trim().toLowerCase() === 'https'
  }

  #clientOf(hops: readonly (string | undefined)[]): string | undefined {
    for (const hop of hops.toReversed()) if (hop === undefined || !this.includes(hop)) return hop
    return hops[0]
  }
}

function parseNetwork(text: string): { readonly address: string; readonly family: 'ipv4' | 'ipv6'; readonly prefix: number } {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/u.exec(text) ?? []
  const family = familyOf(address)
  const max = family === 'ipv4' ? 32 : 128
  const prefix = bits === undefined ? max : Number(bits)
  if (family === undefined || prefix > max) throw new RangeError(`"${text}" is not an IP address or network such as 10.0.0.0/8.`)
  return { address, family, prefix }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}

/** IPv4 clients of an IPv6 socket have mapped addresses. */
const plainAddress = (address: string | undefined): string | undefined =>
  address?.startsWith('::') === true ? address.replace(/^::ffff:(?=\d+\.)/iu, '') : address

type Header = string | string[] | undefined

const hopsOf = (header: Header): readonly string[] | undefined =>
  header === undefined ? undefined : (Array.isArray(header) ? header.join(',') : header).split(',')

const forwardedFor = (header: Header): readonly (string | undefined)[] | undefined => hopsOf(header)?.map(addressIn)

const forwarded = (header: Header): readonly (string | undefined)[] | undefined =>
  hopsOf(header)?.map((hop) => addressIn(/(?:^|;)\s*for=("[^"]*"|[^;]*)/iu.exec(hop)?.[1] ?? ''))

/** The address of a hop, with or without a port; `undefined` for anything else. */
function addressIn(hop: string): string | undefined {
  const text = hop.trim().replace(/^"(.*)"$/u, '$1')
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/u.exec(text) ?? []
  const address = bracketed ?? dotted ?? text
  return isIP(address) === 0 ? undefined : plainAddress(address)
}
