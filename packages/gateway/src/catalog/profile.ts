import type { Config, Profile, ServerConfig } from '../config/schema.ts'
import { separator, serverSlug } from '../names/naming.ts'
import { matcher } from '../names/pattern.ts'
import { groupOfServer } from './groups.ts'

/** What decides whether a profile has an entry: the server it is from, and the name that clients see. */
export interface Profiled {
  readonly source: string
  readonly tool: { readonly name: string }
}

/**
 * Which entries a profile has: those of its servers, of servers in its groups and in groups of these, and its tools; all of them
 * when it names none; never what it excepts.
 */
export function profilePermits(config: Config, profile: Profile): (entry: Profiled) => boolean {
  const isExcepted = matcher(profile.except)
  const isReached = profileIncludesServer(config, profile)
  const isNamed = matcher(profile.tools ?? [])
  return ({ source, tool }) => (isReached(source) || isNamed(tool.name)) && !isExcepted(tool.name)
}

/** Which servers a profile has as a whole, with what they offer beside tools; all of them when it names nothing. */
export function profileIncludesServer(config: Config, { servers, groups, tools }: Profile): (server: string) => boolean {
  if (servers === undefined && groups === undefined && tools === undefined) return () => true
  const reached = new Set([...(servers ?? []), ...serversIn(config, groups ?? [])])
  return (server) => reached.has(server)
}

/** Whether a profile names tools of a server: by names that begin with the server's, or that the configuration gives them. */
export function profileNamesTools({ tools = [] }: Profile, server: string, config: Pick<ServerConfig, 'tools'>): boolean {
  const beginning = `${serverSlug(server)}${separator}`
  const isNamed = matcher(tools)
  const given = Object.values(config.tools).flatMap(({ name }) => name ?? [])
  return tools.some((pattern) => pattern.startsWith(beginning)) || given.some(isNamed)
}

function serversIn(config: Config, groups: readonly string[]): readonly string[] {
  const all = new Set<string>()
  const open = [...groups]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (all.has(name)) continue
    all.add(name)
    open.push(...(config.groups[name]?.groups ?? []))
  }
  return Object.keys(config.mcpServers).filter((server) => all.has(groupOfServer(config, server) ?? ''))
}
