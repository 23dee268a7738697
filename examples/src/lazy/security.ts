import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { alarmModes, doors, type House } from './house.ts'

export function addSecurityTools(home: Toolbox<'security'>, house: House): void {
  const oneDoor = z.object({ door: z.enum(doors) })

  home.tool(
    'check_doors',
    { group: 'security', description: 'Say which doors are locked, and how the alarm is set.', readOnly: true },
    () => ({ alarm: house.alarm, doors: doors.map((door) => ({ door, locked: house.isLocked(door) })) }),
  )

  home.tool(
    'lock_door',
    { group: 'security', description: 'Lock a door.', inputSchema: oneDoor, idempotent: true },
    ({ door }) => {
      house.lock(door, true)
      return `The ${door} door is locked.`
    },
  )

  home.tool(
    'unlock_door',
    { group: 'security', description: 'Unlock a door.', inputSchema: oneDoor, destructive: true },
    ({ door }) => {
      house.lock(door, false)
      return `The ${door} door is unlocked.`
    },
  )

  home.tool(
    'set_alarm',
    {
      group: 'security',
      description: 'Arm the alarm for people at home or away, or switch it off.',
      inputSchema: z.object({ mode: z.enum(alarmModes) }),
      destructive: true,
    },
    ({ mode }) => {
      house.arm(mode)
      return `The alarm is set to ${mode}.`
    },
  )

  home.tool(
    'read_journal',
    {
      group: 'security',
      description: 'Read what happened in the house, newest first.',
      inputSchema: z.object({ limit: z.int().min(1).max(100).default(10) }),
      readOnly: true,
    },
    ({ limit }) => ({ journal: house.journal().slice(0, limit) }),
  )
}
