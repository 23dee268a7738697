import { unfold } from '../../commands/command.ts'

/** A client as the admin API describes one. */
export interface Who {
  readonly era: string
  readonly token: string
  readonly profile: string
  readonly server: string
  readonly host: string
  /** Query of its address, such as `groups=a,b`. */
  readonly query: string
  /** Of a connected client; two may be listed the same. */
  readonly name: string
}

export const nobody: Who = { era: 'session', token: '', profile: '', server: '', host: '', query: '', name: '' }

/** The client in the address of the screen. */
export function whoIn(query: URLSearchParams): Who {
  const of = (name: keyof Who): string => query.get(name) ?? nobody[name]
  return {
    era: of('era'),
    token: of('token'),
    profile: of('profile'),
    server: of('server'),
    host: of('host'),
    query: of('query'),
    name: of('name'),
  }
}

/** The same, without what is as usual. */
export const queryOf = ({ era, ...who }: Who): { readonly [name: string]: string } => ({
  ...who,
  ...(era !== nobody.era && { era }),
})

/** The query of the client's address: its own, and the host that it names. */
const addressQuery = ({ host, query }: Pick<Who, 'host' | 'query'>): string =>
  [host === '' ? '' : `host=${encodeURIComponent(host)}`, query.replace(/^\?/u, '')].filter((part) => part !== '').join('&')

/** Query of the admin API. */
export function searchOf(who: Who, more: { readonly [key: string]: string } = {}): string {
  const { era, token, profile, server } = who
  const all = { era, token, profile, server, query: addressQuery(who), ...more }
  return new URLSearchParams(Object.entries(all).filter(([, value]) => value !== '')).toString()
}

/** The same question on the command line. */
export function whyCommand(who: Who, tool: string): string {
  const { token, host, profile, server, era, query } = who
  // A host is a client too, unless it presents a token.
  const view = token === '' ? query : addressQuery(who)
  const flags = { client: token === '' ? host : token, profile, server, era: era === nobody.era ? '' : era, view }
  return unfold('why', tool, ...Object.entries(flags).flatMap(([flag, value]) => (value === '' ? [] : [`--${flag}`, value])))
}
