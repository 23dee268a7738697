import { defineToolbox, serve } from '@unfold-mcp/server'
import { z } from 'zod'

const notes = ['Water the plants']

const desk = defineToolbox({
  name: 'desk',
  version: '1.0.0',
  description: 'A small desk: notes and arithmetic.',
  groups: { notes: { description: 'Notes: read and write them' }, maths: { description: 'Arithmetic: averages' } },
})

desk.tool('now', { description: 'The date and time' }, () => new Date().toISOString())
desk.tool('read_notes', { group: 'notes', description: 'Read all notes' }, () => ({ notes }))
desk.tool(
  'write_note',
  { group: 'notes', description: 'Write a note', inputSchema: z.object({ text: z.string() }) },
  ({ text }) => `Noted. There are ${notes.push(text)} notes now.`,
)
desk.tool(
  'average',
  { group: 'maths', description: 'Average of numbers', inputSchema: z.object({ of: z.array(z.number()) }) },
  ({ of }) => ({ average: of.reduce((sum, each) => sum + each, 0) / of.length }),
)

await serve(desk)
