import { defineToolbox, type HiddenCalls } from '@unfold-mcp/server'
import { z } from 'zod'

export function hubWith(hiddenCalls: HiddenCalls) {
  //#region policy
  const hub = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: { file_ops: { description: 'File operations' } },
    hiddenCalls, // 'opaque' (default), 'hint' or 'reveal'
  })
  //#endregion
  return hub.tool(
    'read_file',
    { group: 'file_ops', description: 'Read a file', inputSchema: z.object({ path: z.string() }) },
    ({ path }) => `The content of ${path}.`,
  )
}
