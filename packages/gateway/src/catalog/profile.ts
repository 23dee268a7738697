import type { Config, Profile, ServerConfig } from '../config/schema.ts'
import { separator, serverSlug } from '../names/naming.ts'
import { matcher } from '../names/pattern.ts'
import { groupOfServer } from './groups.ts'

/** A tool entry as far as a profile decides on it. */
export interface ProfiledEntry {
  readonly source: string
  readonly tool: { readonly name: string }
}

/**
 * A profile permits the tools of its servers, of the servers in its groups and their subgroups, and its named tools; all tools if
 * it names none of these; never those in `except`.
 */
export function profilePermits(config: Config, profile: Profile): (entry: ProfiledEntry) => boolean {
  const isExcepted = matcher(profile.except)
  const includesServer = profileIncludesServer(config, profile)
  const isNamed = matcher(profile.tools ?? [])
  return ({ source, tool }) => (includesServer(source) || isNamed(tool.name)) && !isExcepted(tool.name)
}

/** Decides which servers a profile includes completely, with prompts and resources. */
export function profileIncludesServer(config: Config, { servers, groups, tools }: Profile): (server: string) => boolean {
  if (servers === undefined && groups === undefined && tools === undefined) return () => true
  const included = new Set([...(servers ?? []), ...serversIn(config, groups ?? [])])
  return (server) => included.has(server)
}

/** True if a profile names tools of a server, by the server's prefix or by a configured name. */
export function profileNamesTools({ tools = [] }: Profile, server: string, config: Pick<ServerConfig, 'tools'>): boolean {
  const prefix = `${serverSlug(server)}${separator}`
  const configuredNames = Object.values(config.tools).flatMap(({ name }) => name ?? [])
  return tools.some((pattern) => pattern.startsWith(prefix)) || configuredNames.some(matcher(tools))
}

function serversIn(config: Config, groups: readonly string[]): readonly string[] {
  const visited = new Set<string>()
  const pending = [...groups]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (visited.has(name)) continue
    visited.add(name)
    pending.push(...(config.groups[name]?.groups ?? []))
  }
  return Object.keys(config.mcpServers).filter((server) => visited.has(groupOfServer(config, server) ?? ''))
}
