import type { Connection } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { Io } from '../base/io.ts'
import type { Invocation } from '../grammar/grammar.ts'
import { Output } from '../output/output.ts'
import { plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import { connectTo, type ResolvedServer } from './servers.ts'

const maxNamed = 6

/**
 * Describes the initial list of session clients, if it differs from `listed`. Requires a second connection, so only servers with
 * groups or unlisted tools are asked.
 */
export async function sessionNote(
  server: ResolvedServer & { readonly connection: Connection },
  listed: readonly Tool[],
  { flags }: Invocation,
  io: Io,
): Promise<string | undefined> {
  const { connection } = server
  if (connection.era !== 'stateless') return undefined
  try {
    const outline = await connection.outline()
    if (outline === undefined || (outline.groups.length === 0 && outline.tools.length <= listed.length)) return undefined
    const silent = { ...flags, protocol: 'session', 'no-cache': true, quiet: true }
    await using session = await connectTo(server, silent, io, new Output(io, silent))
    const names = (await session.tools()).map(({ name }) => name)
    const here = new Set(listed.map(({ name }) => name))
    if (names.length === here.size && names.every((name) => here.has(name))) return undefined
    const shown = names.slice(0, maxNamed).map((name) => safeText(name))
    const more = names.length > shown.length ? ', …' : ''
    return `Session clients (before MCP 2026-07-28) first see ${plural(names.length, 'tool')}: ${shown.join(', ')}${more} (show with --protocol session).`
  } catch (error) {
    if (io.signal.aborted) throw error
    // The note is optional.
    return undefined
  }
}
