import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

/** A host that every program reads in the same way from a text. */
export interface Host {
  readonly kind: 'name' | 'ipv4' | 'ipv6'
  /** Lower case, in ASCII. */
  readonly value: string
}

const maxLength = 8_192

/**
 * Returns the host of a URL, or of a host with or without a port. `undefined` for everything that programs read differently: user
 * names, escapes, backslashes, control characters, unusual forms of addresses, addresses that contain another one, other schemes.
 */
export function hostOf(text: string): Host | undefined {
  if (text.length > maxLength || /\p{Cc}/u.test(text) || text !== text.trim()) return undefined
  const [, scheme = '', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):)?\/\/(.*)$/iu.exec(text) ?? [text, '', text]
  if (!/^(?:https?|wss?)?$/iu.test(scheme)) return undefined
  // Some programs end the authority at the first slash, others also at ? and #.
  const [upToSlash = ''] = rest.split('/')
  if (/[@\\%\s\p{Cf}]/u.test(upToSlash)) return undefined
  const [, host, , port] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(:(\d{1,5}))?$/iu.exec(upToSlash.replace(/[?#].*$/u, '')) ?? []
  if (host === undefined || Number(port ?? 0) > 65_535) return undefined
  return host.startsWith('[') ? ipv6Of(host.slice(1, -1)) : nameOf(host)
}

// Addresses that contain or stand for another one: unspecified, compatible, translated, NAT64, 6to4, Teredo.
const standIns = /^(?:::$|::(?!1$)[0-9a-f]{1,4}(?::[0-9a-f]{1,4})?$|::ffff:0:|64:ff9b:|2002:|2001:(?:0:|:))/u

function ipv6Of(address: string): Host | undefined {
  if (!isIPv6(address)) return undefined
  const value = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/u.exec(value) ?? []
  if (high !== undefined && low !== undefined) {
    const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
    return ipv4Of([first >> 8, first & 0xff, second >> 8, second & 0xff].join('.'))
  }
  return standIns.test(value) ? undefined : { kind: 'ipv6', value }
}

// Linux connects to itself for addresses of 0.0.0.0/8.
const ipv4Of = (value: string): Host | undefined => (value.startsWith('0.') ? undefined : { kind: 'ipv4', value })

/** Characters that IDNA 2003 and 2008 treat differently. */
const deviations = /[ßẞςΣ]/u

function nameOf(text: string): Host | undefined {
  const name = text.replace(/\.$/u, '')
  if (isIPv4(name)) return ipv4Of(name)
  const ascii = deviations.test(name) ? '' : domainToASCII(name)
  if (!/^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/u.test(ascii) || ascii.length > 253) return undefined
  // Octal, hexadecimal, decimal and shortened IPv4 addresses, which not every program reads as an address.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/u.test(ascii)) return undefined
  return { kind: 'name', value: ascii }
}
