import type { ServerInfo } from '@unfold-mcp/client'
import type { GroupDeclaration } from '@unfold-mcp/core'
import { shorten } from '../base/visible-text.ts'
import type { Config } from '../config/schema.ts'
import { serverSlug } from '../names/naming.ts'

export type GroupTable = { readonly [name: string]: Omit<GroupDeclaration, 'strict'> }

const maxTitleLength = 60

/** Text that a server provides about itself. */
export interface SelfDescription {
  readonly title?: string | undefined
  readonly instructions?: string | undefined
  /** Unknown until the first connection. */
  readonly info?: ServerInfo | undefined
}

/** Builds the group tree: one group per server, below the group that the configuration assigns. */
export function buildGroups(config: Config, describe: (server: string) => SelfDescription = () => ({})): GroupTable {
  const parents = new Map<string, string>()
  for (const [name, { groups }] of Object.entries(config.groups)) for (const child of groups) parents.set(child, name)
  const groups: [string, GroupTable[string]][] = Object.entries(config.groups).map(([name, { description }]) => [
    name,
    withParent({ description }, parents.get(name)),
  ])
  for (const [server, { disabled, description }] of Object.entries(config.mcpServers)) {
    if (disabled) continue
    // Instructions are for using the tools, not for choosing a server. Without a configured description, the library derives one
    // from the tools.
    const title = shorten(describe(server).info?.title ?? '', maxTitleLength)
    const described =
      description === undefined ? { title: title === '' ? shorten(server, maxTitleLength) : title } : { description }
    groups.push([serverSlug(server), withParent(described, groupOfServer(config, server))])
  }
  return Object.fromEntries(groups)
}

export function groupOfServer({ groups, mcpServers }: Config, server: string): string | undefined {
  return mcpServers[server]?.group ?? Object.entries(groups).find(([, group]) => group.servers.includes(server))?.[0]
}

const withParent = (group: GroupTable[string], parent: string | undefined): GroupTable[string] =>
  parent === undefined ? group : { ...group, parent }
