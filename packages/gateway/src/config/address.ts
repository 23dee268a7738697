import { networkInterfaces } from 'node:os'

/** True for the unspecified address, which listens on every interface. */
export const isWildcardHost = (host: string): boolean => ['0.0.0.0', '::', '[::]'].includes(host)

/** Returns a URL that local programs can connect to: the loopback address instead of the unspecified one. */
export function localUrl(url: string): string {
  const local = new URL(url)
  if (isWildcardHost(local.hostname)) local.hostname = local.hostname === '0.0.0.0' ? '127.0.0.1' : '[::1]'
  return local.href
}

/** Returns a URL that other machines can connect to: the first network address of this machine instead of the unspecified one. */
export function reachableUrl(url: string): string {
  const reachable = new URL(url)
  if (!isWildcardHost(reachable.hostname)) return url
  const own = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')
  reachable.hostname = own?.address ?? '127.0.0.1'
  return reachable.href
}
