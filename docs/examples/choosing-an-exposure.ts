//#region auto
import { defineToolbox } from '@unfold-mcp/server'

export const archive = defineToolbox({
  name: 'archive',
  version: '1.0.0',
  groups: {
    photos: { description: 'Photographs' },
    letters: { description: 'Letters' },
  },
  exposure: { mode: 'auto', budgetTokens: 1_000 },
})

archive.tool(
  'archive_help',
  { always: true, description: 'What the archive holds' },
  () => 'Photographs and letters, from 1890 on.',
)
//#endregion

const kinds = ['photos', 'letters'] as const
const places = ['Oslo', 'Lisbon', 'Rome', 'Paris', 'Vienna', 'Prague', 'Athens', 'Dublin', 'Berlin', 'Madrid', 'Warsaw', 'Zurich']
for (const group of kinds) {
  for (const place of places) {
    for (const verb of ['list', 'count']) {
      const name = `${verb}_${group}_from_${place.toLowerCase()}`
      archive.tool(name, { group, description: `${verb === 'list' ? 'List' : 'Count'} the ${group} from ${place}` }, () => ({
        [group]: [],
      }))
    }
  }
}

//#region small
export const desk = defineToolbox({ name: 'desk', version: '1.0.0', exposure: 'auto' })
desk.tool('now', { description: 'The date and time' }, () => new Date().toISOString())
//#endregion
