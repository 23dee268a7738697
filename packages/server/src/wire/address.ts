/** Returns the part of an address that one client can choose freely: IPv6 clients have a network of 64 bits. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? []
  const [first, last] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length
  const groups = [...first, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...last]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/u, ''))
    .join(':')}::/64`
}

/** True for an address of this machine. */
export const isLoopbackAddress = (address: string): boolean => address === '::1' || address.startsWith('127.')
