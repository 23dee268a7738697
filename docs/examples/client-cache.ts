//#region cache
import { homedir } from 'node:os'
import { join } from 'node:path'
import { connect, fileCache, type Target, type ToolCache } from '@unfold-mcp/client'

export const toolsOnDisk = fileCache(join(homedir(), '.cache', 'my-agent', 'tools'), {
  onWarning: (warning) => console.error(warning),
})

/** The names of the tools; the list itself is only asked for when it is not the one that is known. */
export async function toolNames(garden: Target, cache: ToolCache): Promise<readonly string[]> {
  await using connection = await connect(garden, { cache, credential: 'ada' })
  return (await connection.tools()).map((tool) => tool.name)
}
//#endregion
