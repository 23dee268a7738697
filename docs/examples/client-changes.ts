//#region changes
import { connect, type Target } from '@unfold-mcp/client'

export async function follow(garden: Target, tell: (line: string) => void, signal: AbortSignal): Promise<void> {
  await using connection = await connect(garden)
  await connection.tools()
  for await (const { added, removed, changed } of connection.changes({ signal })) {
    for (const tool of added) tell(`+ ${tool.name}`)
    for (const { after } of changed) tell(`~ ${after.name}`)
    for (const tool of removed) tell(`- ${tool.name}`)
  }
}
//#endregion
