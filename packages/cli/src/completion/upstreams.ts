import { jsonAt } from '@unfold-mcp/client/edit'
import { readRegularFile } from '@unfold-mcp/core/files'
import type { Io } from '../base/io.ts'
import { findConfig } from '../gateway/config-file.ts'

/** Server names of the gateway configuration. */
export async function upstreamNames(io: Pick<Io, 'env' | 'home' | 'cwd' | 'platform'>): Promise<readonly string[]> {
  try {
    const file = await findConfig(undefined, io)
    const servers = file === undefined ? undefined : jsonAt((await readRegularFile(file)).toString('utf8'), ['mcpServers'])
    return typeof servers === 'object' && servers !== null ? Object.keys(servers) : []
  } catch {
    // Completion cannot report errors.
    return []
  }
}
