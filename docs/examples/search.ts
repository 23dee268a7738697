//#region toolbox
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

export const city = defineToolbox({
  name: 'city',
  version: '1.0.0',
  description: 'What a city offers.',
  groups: {
    library: { description: 'Books and readers' },
    transport: { description: 'Buses and trams' },
  },
  exposure: 'search',
})

const id = z.int().min(1)

city.tool(
  'find_book',
  {
    group: 'library',
    description: 'Find books by title or author.',
    inputSchema: z.object({ words: z.string() }),
    readOnly: true,
  },
  ({ words }) => ({ books: [`A book about ${words}`] }),
)
city.tool(
  'lend_book',
  {
    group: 'library',
    description: 'Lend a book to a reader.',
    inputSchema: z.object({ book: id, reader: id, days: z.int().min(1).max(60).default(28) }),
  },
  ({ book, days }) => `Book ${book} is lent for ${days} days.`,
)
city.tool(
  'next_bus',
  {
    group: 'transport',
    description: 'When the next bus leaves a stop.',
    inputSchema: z.object({ stop: z.string() }),
    readOnly: true,
  },
  ({ stop }) => `A bus leaves ${stop} in 4 minutes.`,
)
city.tool(
  'report_lost_property',
  {
    group: 'transport',
    description: 'Report something that was left in a bus or tram.',
    inputSchema: z.object({ what: z.string() }),
  },
  ({ what }) => `Reported: ${what}.`,
)
//#endregion

//#region variants
export const approving = defineToolbox({ name: 'city', version: '1.0.0', exposure: { mode: 'search', callVariants: true } })
//#endregion
approving.tool('next_bus', { description: 'When the next bus leaves', readOnly: true }, () => 'In 4 minutes.')
approving.tool('close_account', { description: 'Close an account', destructive: true }, () => 'Closed.')
