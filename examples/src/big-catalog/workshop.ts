/**
 * Shows a large catalogue: about a thousand small, working tools. A thousand definitions exceed the token budget, so the toolbox
 * (`exposure: 'auto'`) lists three tools that search and call the others. With `/mcp?exposure=groups` a session sees one activator
 * for each group, with `?exposure=lazy` it starts with `manage_tools`.
 *
 *   npm run -s example -- big-catalog                  over standard input and output
 *   npm run -s example -- big-catalog --http 8000      at http://127.0.0.1:8000/mcp
 */
import { defineToolbox, type Toolbox } from '@unfold-mcp/server'
import { addCalendar } from './calendar.ts'
import { addColours } from './colours.ts'
import { addConverters } from './converters.ts'
import { addEncodings } from './encodings.ts'
import { addGeometry } from './geometry.ts'
import { addMusic } from './music.ts'
import { addNumbers } from './numbers.ts'
import { type Shelf, shelves } from './shelves.ts'
import { addStatistics } from './statistics.ts'
import { addText } from './text.ts'

export function workshop(): Toolbox<Shelf> {
  const made = defineToolbox<Shelf>({
    name: 'workshop',
    version: '1.0.0',
    description: 'A workshop of small instruments: each converts, counts, measures or computes one thing.',
    groups: shelves,
    exposure: 'auto',
  })
  addCalendar(made)
  addColours(made)
  addEncodings(made)
  addGeometry(made)
  addMusic(made)
  addNumbers(made)
  addStatistics(made)
  addText(made)
  addConverters(made)
  return made
}
