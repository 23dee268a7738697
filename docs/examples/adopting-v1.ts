//#region v1
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { adoptV1 } from '@unfold-mcp/server/adopt-v1'

function archive(): McpServer {
  const mcp = new McpServer({ name: 'archive', version: '1.0.0' })
  mcp.registerTool('find', { description: 'Find a document' }, async () => ({ content: [{ type: 'text', text: 'Found.' }] }))
  return mcp
}

export const adopted = adoptV1(archive, {
  groups: { search: { description: 'Search the archive' } },
  assign: { find: 'search' },
})
//#endregion
