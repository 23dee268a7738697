import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { type House, type Room, rooms, words } from './house.ts'

const scenes = {
  morning: { living_room: 60, kitchen: 100, bedroom: 40, hallway: 60 },
  film: { living_room: 10, kitchen: 0, bedroom: 0, hallway: 5 },
  night: { living_room: 0, kitchen: 0, bedroom: 0, hallway: 5 },
} as const satisfies { readonly [scene: string]: { readonly [R in Room]: number } }

export function addLightTools(home: Toolbox<'lights'>, house: House): void {
  const state = () => ({ lights: rooms.map((room) => ({ room, percent: house.brightness(room) })) })

  home.tool('list_lights', { group: 'lights', description: 'Say how bright the lights of each room are.', readOnly: true }, state)

  home.tool(
    'set_light',
    {
      group: 'lights',
      description: 'Dim or brighten the lights of a room, or switch them off with 0.',
      inputSchema: z.object({ room: z.enum(rooms), percent: z.int().min(0).max(100) }),
      idempotent: true,
    },
    ({ room, percent }) => {
      house.setBrightness(room, percent)
      return `The lights of the ${words(room)} are at ${percent} %.`
    },
  )

  home.tool(
    'switch_off_all_lights',
    { group: 'lights', description: 'Switch off every light in the house.', idempotent: true },
    () => {
      for (const room of rooms) if (house.brightness(room) > 0) house.setBrightness(room, 0)
      return 'All lights are off.'
    },
  )

  home.tool(
    'apply_scene',
    {
      group: 'lights',
      description: 'Set all lights for an occasion.',
      inputSchema: z.object({ scene: z.enum(['morning', 'film', 'night']) }),
      idempotent: true,
    },
    ({ scene }) => {
      for (const room of rooms) house.setBrightness(room, scenes[scene][room])
      return state()
    },
  )
}
