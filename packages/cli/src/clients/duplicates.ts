import { jsonAt, planEdit } from '@unfold-mcp/client/edit'
import type { Io } from '../base/io.ts'
import { withEditErrors } from '../gateway/apply.ts'
import { discoverServers } from '../servers/servers.ts'
import { alreadyConfigured, importCandidates } from './candidates.ts'
import type { Client } from './clients.ts'

export async function serversIn(config: string): Promise<{ readonly [name: string]: unknown }> {
  const { after } = await withEditErrors(planEdit(config, (text) => text))
  const servers = after.trim() === '' ? undefined : jsonAt(after, ['mcpServers'])
  return typeof servers === 'object' && servers !== null ? { ...servers } : {}
}

/** Servers configured both in the client and in the gateway. */
export async function duplicateServers({ file }: Client, config: string, io: Io): Promise<readonly string[]> {
  const { servers } = await discoverServers({}, io)
  const theirs = servers.filter(({ source, also }) => [source, ...also].some((each) => each.file === file))
  return importCandidates(theirs, { present: await serversIn(config), own: [], isNamed: false })
    .filter(({ skipped }) => skipped === alreadyConfigured)
    .map(({ server }) => server.key)
}
