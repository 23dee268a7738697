import type { ServerInfo } from '@unfold-mcp/client'
import type { GroupDeclaration } from '@unfold-mcp/core'
import { shorten } from '../base/visible-text.ts'
import type { Config } from '../config/schema.ts'
import { serverSlug } from '../names/naming.ts'

export type GroupTable = { readonly [name: string]: Omit<GroupDeclaration, 'strict'> }

const maxTitleLength = 60

/** What a server says of itself. */
export interface SelfDescription {
  readonly title?: string | undefined
  readonly instructions?: string | undefined
  /** What it says it is; not known before it was connected once. */
  readonly info?: ServerInfo | undefined
}

/** The groups of a gateway: each server is one, and lies in the one that the configuration puts it into. */
export function buildGroups(config: Config, saysOfItself: (server: string) => SelfDescription = () => ({})): GroupTable {
  const parents = new Map<string, string>()
  for (const [name, { groups }] of Object.entries(config.groups)) for (const child of groups) parents.set(child, name)
  const made: [string, GroupTable[string]][] = Object.entries(config.groups).map(([name, { about }]) => [
    name,
    inside({ about }, parents.get(name)),
  ])
  for (const [server, { disabled, about }] of Object.entries(config.mcpServers)) {
    if (disabled) continue
    // Its instructions are for whoever uses its tools, not for whoever chooses between servers: without a description of the
    // operator's, the library makes one from the tools.
    const title = shorten(saysOfItself(server).info?.title ?? '', maxTitleLength)
    const described = about === undefined ? { title: title === '' ? shorten(server, maxTitleLength) : title } : { about }
    made.push([serverSlug(server), inside(described, groupOfServer(config, server))])
  }
  return Object.fromEntries(made)
}

/** The configured group that a server lies in. */
export function groupOfServer({ groups, mcpServers }: Config, server: string): string | undefined {
  return mcpServers[server]?.group ?? Object.entries(groups).find(([, group]) => group.servers.includes(server))?.[0]
}

const inside = (group: GroupTable[string], parent: string | undefined): GroupTable[string] =>
  parent === undefined ? group : { ...group, parent }
