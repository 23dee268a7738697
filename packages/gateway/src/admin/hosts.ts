import { clientKinds, entryText, hostById, pastedKinds } from '@unfold-mcp/core'
import type { Gateway } from '../gateway/gateway.ts'
import type { ConnectableHost } from './contract.ts'

/** Every host that `unfold connect` knows, with its entry for this gateway. */
export function connectableHosts(
  { config, lists }: Pick<Gateway, 'config' | 'lists'>,
  address: string,
): readonly ConnectableHost[] {
  const wantsToken = config.tokens.some(({ role }) => role === undefined)
  const headers: Record<string, string> = wantsToken ? { Authorization: 'Bearer <token>' } : {}
  const listed = new Map<string, number>()
  for (const { host, lists: count } of lists.rows()) if (host !== undefined) listed.set(host, (listed.get(host) ?? 0) + count)
  const report = (name: string, title: string, id: string, entry: string | undefined, next: string): ConnectableHost => {
    const profile = hostById(id)
    const count = profile === undefined ? undefined : (listed.get(profile.title) ?? 0)
    return {
      name,
      title,
      ...(entry !== undefined && { entry }),
      next,
      ...(profile !== undefined && { host: profile.id }),
      ...(count !== undefined && { lists: count }),
    }
  }
  const urlFor = (host: string): string => (address === '' ? '' : `${address}?host=${host}`)
  return [
    ...Object.entries(clientKinds).map(([name, kind]) =>
      report(name, kind.title, kind.host, entryText(kind, urlFor(kind.host), headers), kind.next),
    ),
    ...Object.entries(pastedKinds).map(([name, { title, host, where, text }]) =>
      report(name, title, host, text(urlFor(host), wantsToken ? '<token>' : undefined), `${where}.`),
    ),
  ]
}
