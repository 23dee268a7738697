// A server that lists groups first for session clients, and everything for others.
import { defineToolbox, serve } from '@unfold-mcp/server'

const toolbox = defineToolbox({ name: 'grouped', version: '1.0.0', groups: { notes: { description: 'Notes' } } })
toolbox.tool('now', { description: 'The time.' }, () => 'now')
toolbox.tool(
  'write_note',
  {
    group: 'notes',
    description: 'Writes a note.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' }, pinned: { type: 'boolean' } }, required: ['text'] },
  },
  () => 'written',
)

await serve(toolbox)
