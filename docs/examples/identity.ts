//#region toolbox
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

export const garden = defineToolbox({
  name: 'garden',
  version: '1.0.0',
  groups: { beds: { description: 'Beds and what grows in them' } },
  hiddenCalls: 'hint',
})

garden.tool('weather', { description: 'The weather today', readOnly: true }, () => 'Rain.')
garden.tool(
  'plant',
  { group: 'beds', description: 'Plant something', inputSchema: z.object({ what: z.string() }) },
  ({ what }) => `${what}.`,
)
garden.tool('water', { group: 'beds', description: 'Water a bed', inputSchema: z.object({ bed: z.number() }) }, () => 'Done.')
//#endregion

//#region names
export const byNames = defineToolbox({ name: 'garden', version: '1.0.0', protocol: { identity: 'names' } })
//#endregion
