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
 * What a client with a session is listed at first, in one line, where that differs from what this client was listed; nothing where it does
 * not. Only a server of ours that has groups or hides tools is asked, because asking means to connect to it a second time.
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
    return `Clients with sessions (before MCP 2026-07-28) are first listed ${plural(names.length, 'tool')}: ${shown.join(', ')}${more} (--protocol session shows them).`
  } catch (error) {
    if (io.signal.aborted) throw error
    // It cannot be known, which takes nothing from the list.
    return undefined
  }
}
