import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { type House, rooms, words } from './house.ts'

const degrees = z.number().min(5).max(30).describe('Degrees Celsius')

export function addClimateTools(home: Toolbox<'climate'>, house: House): void {
  home.tool(
    'read_temperatures',
    {
      group: 'climate',
      description: 'Read the temperature of a room, or of all, and what the thermostat is set to.',
      inputSchema: z.object({ room: z.enum(rooms).optional() }),
      readOnly: true,
    },
    ({ room }) => ({ rooms: (room === undefined ? rooms : [room]).map((each) => house.climate(each)) }),
  )

  home.tool(
    'set_thermostat',
    {
      group: 'climate',
      description: 'Set the temperature that the heating keeps in a room.',
      inputSchema: z.object({ room: z.enum(rooms), celsius: degrees }),
      idempotent: true,
    },
    ({ room, celsius }) => {
      house.heat(room, celsius)
      return `The ${words(room)} is to have ${celsius} °C; it has ${house.climate(room).celsius} °C now.`
    },
  )

  home.tool(
    'lower_heating',
    {
      group: 'climate',
      description: 'Lower the heating of every room, for a night or a journey.',
      inputSchema: z.object({ celsius: degrees.default(16) }),
      idempotent: true,
    },
    ({ celsius }) => {
      const lowered = rooms.filter((room) => house.climate(room).target > celsius)
      for (const room of lowered) house.heat(room, celsius)
      return { lowered }
    },
  )
}
