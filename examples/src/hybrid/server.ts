/**
 * Shows static and dynamic tools together: `core_function` is declared in a group, and every added note becomes a tool of a
 * registry. Static tools are listed first, and take precedence if two tools have the same name.
 *
 *   npm run -s example -- hybrid                  over standard input and output
 *   npm run -s example -- hybrid --http 8000      at http://127.0.0.1:8000/mcp
 */
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { Notes } from './notes.ts'

const nameSchema = z
  .string()
  .regex(/^[a-z0-9_]{1,40}$/u, 'must be up to 40 small letters, digits and underscores')
  .describe('Such as shopping_list')

export function hybridServer() {
  const notes = new Notes()
  return defineToolbox({
    name: 'hybrid',
    version: '1.0.0',
    description: 'Hybrid server with both static and dynamic tools. Notes that you add become tools.',
    groups: { core: { description: 'Core functions: search all notes, read those that are not pinned' } },
  })
    .use(notes.registry)
    .tool(
      'core_function',
      {
        group: 'core',
        description: 'Find the notes that have all of these words.',
        inputSchema: z.object({ query: z.string().min(1).max(200) }),
        outputSchema: z.object({ notes: z.array(z.object({ name: z.string(), text: z.string() })) }),
        readOnly: true,
      },
      ({ query }) => ({ notes: notes.find(query.trim()) }),
    )
    .tool(
      'add_note',
      {
        description: 'Keep a note as a tool: note_<name> answers with its text.',
        inputSchema: z.object({
          name: nameSchema,
          text: z.string().min(1).max(10_000),
          pinned: z.boolean().default(false).describe('Whether it is shown while core is not active'),
        }),
        destructive: false,
      },
      ({ pinned, ...note }) => `Added ${notes.add(note, pinned)}.`,
    )
    .tool(
      'remove_note',
      { description: 'Remove a note and its tool.', inputSchema: z.object({ name: nameSchema }), destructive: true },
      ({ name }) => {
        notes.remove(name)
        return `Removed note_${name}.`
      },
    )
}
