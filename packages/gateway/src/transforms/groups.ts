import type { ServerInfo } from '@unfold-mcp/client'
import type { GroupDeclaration } from '@unfold-mcp/core'
import type { Config } from '../config/schema.ts'
import { serverSlug } from './naming.ts'
import { brief } from './text.ts'

export type GroupTable = { readonly [name: string]: Omit<GroupDeclaration, 'strict'> }

/** How much of a server's instructions stands in the description of its group. */
const longestAbout = 600

/** What a server says of itself. */
export interface SelfDescription {
  readonly title?: string | undefined
  readonly instructions?: string | undefined
  /** What it says it is; not known before it was connected once. */
  readonly info?: ServerInfo | undefined
}

/** The groups of a gateway: each server is one, and lies in the one that the configuration puts it into. */
export function groupsOf(config: Config, saysOfItself: (server: string) => SelfDescription = () => ({})): GroupTable {
  const parents = new Map<string, string>()
  for (const [name, { groups }] of Object.entries(config.groups)) for (const child of groups) parents.set(child, name)
  const made: [string, GroupTable[string]][] = Object.entries(config.groups).map(([name, { about }]) => [
    name,
    inside({ about }, parents.get(name)),
  ])
  for (const [server, { disabled, about }] of Object.entries(config.mcpServers)) {
    if (disabled) continue
    const words = about ?? aboutServer(server, saysOfItself(server))
    made.push([serverSlug(server), inside({ about: words }, groupOfServer(config, server))])
  }
  return Object.fromEntries(made)
}

/** The configured group that a server lies in. */
export function groupOfServer({ groups, mcpServers }: Config, server: string): string | undefined {
  return mcpServers[server]?.group ?? Object.entries(groups).find(([, group]) => group.servers.includes(server))?.[0]
}

/** A server in its own words, as far as a list has room for them; it may say nothing, or anything. */
export function aboutServer(server: string, { title, instructions }: SelfDescription): string {
  const words = brief(withoutHeadings(instructions ?? ''), longestAbout)
  if (words !== '') return words
  const name = brief(title ?? '', 100)
  return `The tools of ${name === '' ? brief(server, 100) : name}`
}

// On one line they would be words without a sentence. Far more is looked at than is kept.
const withoutHeadings = (text: string): string => text.slice(0, longestAbout * 8).replaceAll(/^#{1,6} .*$/gmu, '')

const inside = (group: { readonly about: string }, parent: string | undefined): GroupTable[string] =>
  parent === undefined ? group : { ...group, parent }
