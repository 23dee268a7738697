import { defineToolbox, serve } from '@unfold-mcp/server'
import { z } from 'zod'

const notes = ['Water the plants']

const desk = defineToolbox({
  name: 'desk',
  version: '1.0.0',
  about: 'A small desk: notes and arithmetic.',
  groups: {
    notes: { about: 'Notes: read and write them' },
    maths: { about: 'Arithmetic: averages' },
  },
})

desk.tool('now', { about: 'The date and time' }, () => new Date().toISOString())

desk.tool('read_notes', { group: 'notes', about: 'Read all notes' }, () => ({ notes }))

desk.tool('write_note', { group: 'notes', about: 'Write a note', input: z.object({ text: z.string() }) }, ({ text }) => {
  notes.push(text)
  return `Noted. There are ${notes.length} notes now.`
})

desk.tool('average', { group: 'maths', about: 'Average of numbers', input: z.object({ of: z.array(z.number()) }) }, ({ of }) => ({
  average: of.reduce((sum, each) => sum + each, 0) / of.length,
}))

await serve(desk)
