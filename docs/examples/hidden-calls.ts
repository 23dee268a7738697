import { defineToolbox, type HiddenCalls } from '@unfold-mcp/server'
import { z } from 'zod'

export function hubWith(hiddenCalls: HiddenCalls) {
  //#region policy
  const hub = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: { file_ops: { about: 'File operations' } },
    hiddenCalls, // 'opaque' (default), 'hint' or 'reveal'
  })
  //#endregion
  return hub.tool(
    'read_file',
    { group: 'file_ops', about: 'Read a file', input: z.object({ path: z.string() }) },
    ({ path }) => `The content of ${path}.`,
  )
}
