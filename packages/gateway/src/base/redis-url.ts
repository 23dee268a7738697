/** Where Redis or Valkey runs, from a URL. */
export interface RedisTarget {
  readonly kind: 'standalone' | 'sentinel' | 'cluster'
  readonly isTls: boolean
  readonly username?: string
  readonly password?: string
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly database: number
  /** Name of the master in Sentinel. */
  readonly master: string
}

const pattern = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?$/u
const defaultPorts = { standalone: 6_379, sentinel: 26_379, cluster: 6_379 }

/** Parses `redis://`, `redis+sentinel://` and `redis+cluster://` URLs, with `rediss` for TLS; `undefined` for others. */
export function parseRedisUrl(url: string): RedisTarget | undefined {
  const [, scheme, suffix, user = '', hosts = '', path = ''] = pattern.exec(url) ?? []
  const kind = (suffix as 'sentinel' | 'cluster' | undefined) ?? 'standalone'
  const nodes = hosts.split(',').map((host) => nodeIn(host, defaultPorts[kind]))
  const credentials = credentialsIn(user)
  const [master = '', database = ''] = kind === 'sentinel' ? path.split('/') : ['', path]
  const isValid =
    scheme !== undefined &&
    nodes.every((node) => node !== undefined) &&
    (kind !== 'standalone' || nodes.length === 1) &&
    (kind !== 'sentinel' || master !== '') &&
    (kind === 'cluster' ? database === '' : /^\d{0,5}$/u.test(database))
  if (!isValid || credentials === undefined) return undefined
  return { kind, isTls: scheme === 'rediss', ...credentials, nodes, database: Number(database), master }
}

function nodeIn(text: string, defaultPort: number): RedisTarget['nodes'][number] | undefined {
  const [, host, port = defaultPort] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/u.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[(.*)\]$/u, '$1'), port: Number(port) }
}

function credentialsIn(text: string): Pick<RedisTarget, 'username' | 'password'> | undefined {
  const [, user = '', password] = /^([^:]*)(?::(.*))?$/u.exec(text) ?? []
  try {
    const username = decodeURIComponent(user)
    return {
      ...(username !== '' && { username }),
      ...(password !== undefined && { password: decodeURIComponent(password) }),
    }
  } catch {
    return undefined
  }
}
