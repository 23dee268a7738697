/**
 * Shows lazy mode: a session client starts with only `manage_tools`, lists the available tools, and enables the two or three that
 * its task needs. A 2026-07-28 client finds tools with `search_tools` and runs them with `call_tool`.
 * The house is simulated in memory (house.ts): rooms warm up over time, and a journal records events.
 *
 *   npm run -s example -- lazy                  over standard input and output
 *   npm run -s example -- lazy --http 8000      at http://127.0.0.1:8000/mcp
 */
import { defineToolbox } from '@unfold-mcp/server'
import { addClimateTools } from './climate.ts'
import type { House } from './house.ts'
import { addLightTools } from './lights.ts'
import { addSecurityTools } from './security.ts'
import { addSoundTools } from './sound.ts'

export function smartHome(house: House) {
  const home = defineToolbox({
    name: 'smart-home',
    version: '1.0.0',
    description: 'A house with lights, heating, locks and speakers.',
    groups: {
      lights: { description: 'Lights and scenes' },
      climate: { description: 'Temperatures and heating' },
      security: { description: 'Doors, alarm and the journal of the house' },
      sound: { description: 'Music in each room' },
    },
    exposure: 'lazy',
  })
  addLightTools(home, house)
  addClimateTools(home, house)
  addSecurityTools(home, house)
  addSoundTools(home, house)
  return home
}
