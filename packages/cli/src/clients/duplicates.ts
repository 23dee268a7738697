import type { Io } from '../base/io.ts'
import { planEdit } from '../edit/file.ts'
import { jsonAt } from '../edit/json.ts'
import { planned } from '../gateway/apply.ts'
import { knownServers } from '../servers/servers.ts'
import { candidatesFrom, isThere } from './candidates.ts'
import type { Client } from './clients.ts'

/** The servers that the configuration of a gateway has. */
export async function serversIn(config: string): Promise<{ readonly [name: string]: unknown }> {
  const { after } = await planned(planEdit(config, (text) => text))
  const servers = after.trim() === '' ? undefined : jsonAt(after, ['mcpServers'])
  return typeof servers === 'object' && servers !== null ? { ...servers } : {}
}

/** The servers that a client has itself, as it calls them, and that are behind the gateway as well. */
export async function servedTwice({ file }: Client, config: string, io: Io): Promise<readonly string[]> {
  const { servers } = await knownServers({}, io)
  const theirs = servers.filter(({ source, also }) => [source, ...also].some((each) => each.file === file))
  return candidatesFrom(theirs, { present: await serversIn(config), own: [], isNamed: false })
    .filter(({ skipped }) => skipped === isThere)
    .map(({ server }) => server.key)
}
