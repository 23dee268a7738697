//#region toolbox
import { defineToolbox, ToolError } from '@unfold-mcp/server'
import { z } from 'zod'

export const library = defineToolbox({
  name: 'library',
  version: '1.0.0',
  description: 'The catalogue of a small library.',
  groups: {
    search: { description: 'Find books' },
    loans: { description: 'Lend and return books' },
  },
})
//#endregion

//#region tools
const titles = ['The Book of Sand', 'The Library of Babel', 'The Garden of Forking Paths']
const onLoan = new Set<string>()

library.tool(
  'find_books',
  {
    group: 'search',
    description: 'Find books by a part of their title.',
    inputSchema: z.object({ title: z.string().describe('A part of the title'), limit: z.int().min(1).max(50).default(10) }),
    readOnly: true,
  },
  ({ title, limit }) => ({ found: titles.filter((each) => each.includes(title)).slice(0, limit) }),
)

library.tool(
  'lend_book',
  { group: 'loans', description: 'Lend a book.', inputSchema: z.object({ title: z.string() }) },
  ({ title }) => {
    if (onLoan.has(title)) throw new ToolError(`"${title}" is on loan already.`)
    onLoan.add(title)
    return `Lent "${title}".`
  },
)
//#endregion
