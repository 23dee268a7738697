//#region versions
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

export const weather = defineToolbox({
  name: 'weather',
  version: '2.0.0',
  groups: {
    forecasts: { description: 'Forecasts' },
    research: { description: 'Forecasts with experimental tools', needs: ['forecasts'], versions: { forecast: '2-trial' } },
  },
})

const place = z.object({ place: z.string() })

weather.tool('forecast', { group: 'forecasts', version: '1', description: 'Forecast', inputSchema: place }, () => 'Sunny.')
weather.tool(
  'forecast',
  { group: 'forecasts', version: '2', description: 'Forecast by the hour', inputSchema: place },
  () => 'Sunny until 15:00.',
)
weather.tool(
  'forecast',
  { group: 'research', version: '2-trial', description: 'Forecast with doubts', inputSchema: place },
  () => 'Sunny, maybe.',
)
//#endregion

//#region alias
weather.tool('warnings', { description: 'Warnings in force', aliases: ['get_warnings'] }, () => 'None.')
//#endregion
