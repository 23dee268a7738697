//#region versions
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

export const weather = defineToolbox({
  name: 'weather',
  version: '2.0.0',
  groups: {
    forecasts: { about: 'Forecasts' },
    research: { about: 'Forecasts with experimental tools', needs: ['forecasts'], versions: { forecast: '2-trial' } },
  },
})

const place = z.object({ place: z.string() })

weather.tool('forecast', { group: 'forecasts', version: '1', about: 'Forecast', input: place }, () => 'Sunny.')
weather.tool(
  'forecast',
  { group: 'forecasts', version: '2', about: 'Forecast by the hour', input: place },
  () => 'Sunny until 15:00.',
)
weather.tool(
  'forecast',
  { group: 'research', version: '2-trial', about: 'Forecast with doubts', input: place },
  () => 'Sunny, maybe.',
)
//#endregion

//#region alias
weather.tool('warnings', { about: 'Warnings in force', aliases: ['get_warnings'] }, () => 'None.')
//#endregion
