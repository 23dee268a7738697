const every = new Set(['0.0.0.0', '::', '[::]'])

/** Whether this stands for every address of the machine. */
export const isWildcardHost = (host: string): boolean => every.has(host)

/** The address at which programs of this machine reach what listens at `url`: that of every interface is one of none. */
export function localUrl(url: string): string {
  const local = new URL(url)
  if (isWildcardHost(local.hostname)) local.hostname = local.hostname === '0.0.0.0' ? '127.0.0.1' : '[::1]'
  return local.href
}
