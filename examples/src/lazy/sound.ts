import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { type House, rooms, words } from './house.ts'

export function addSoundTools(home: Toolbox<'sound'>, house: House): void {
  const anyRoom = z.enum(rooms)

  home.tool(
    'play_music',
    {
      group: 'sound',
      description: 'Play a station or a piece of music in a room.',
      inputSchema: z.object({ room: anyRoom, station: z.string().min(1).max(100) }),
    },
    ({ room, station }) => {
      house.play(room, station)
      return `${station} plays in the ${words(room)}, at volume ${house.speaker(room).volume}.`
    },
  )

  home.tool(
    'stop_music',
    { group: 'sound', description: 'Stop the music in a room.', inputSchema: z.object({ room: anyRoom }) },
    ({ room }) => {
      house.play(room, undefined)
      return `The ${words(room)} is quiet.`
    },
  )

  home.tool(
    'set_volume',
    {
      group: 'sound',
      description: 'Set how loud the speaker of a room is.',
      inputSchema: z.object({ room: anyRoom, volume: z.int().min(0).max(100) }),
      idempotent: true,
    },
    ({ room, volume }) => {
      house.setVolume(room, volume)
      return `The volume in the ${words(room)} is ${volume}.`
    },
  )
}
