import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { type Plugin, pure } from '../plugin.ts'

const zoneSchema = z.string().max(60).default('UTC').describe('Such as Europe/Berlin')
const momentSchema = z.iso.datetime({ offset: true }).describe('Such as 2026-07-28T12:00:00Z')

/** Time tools with this clock. */
export const timePlugin = (now: () => number): Plugin => ({
  name: 'time',
  description: 'Tell the time, convert between zones, measure spans',
  tools(register) {
    register(
      'time_now',
      { description: 'The time now, in a time zone.', inputSchema: z.object({ zone: zoneSchema }), ...pure },
      ({ zone }) => inZone(now(), zone),
    )

    register(
      'time_convert',
      {
        description: 'Tell a moment as clocks in a time zone show it.',
        inputSchema: z.object({ moment: momentSchema, zone: zoneSchema }),
        ...pure,
      },
      ({ moment, zone }) => inZone(Date.parse(moment), zone),
    )

    register(
      'time_between',
      {
        description: 'How long it is from one moment to another.',
        inputSchema: z.object({ from: momentSchema, to: momentSchema }),
        ...pure,
      },
      ({ from, to }) => {
        const seconds = (Date.parse(to) - Date.parse(from)) / 1_000
        const whole = Math.floor(Math.abs(seconds))
        const parts = {
          days: Math.floor(whole / 86_400),
          hours: Math.floor(whole / 3_600) % 24,
          minutes: Math.floor(whole / 60) % 60,
        }
        return { seconds, ...parts }
      },
    )
  },
})

function inZone(time: number, zone: string) {
  try {
    const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'full', timeStyle: 'long' })
    return { iso: new Date(time).toISOString(), zone, local: format.format(time) }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ToolError(`Unknown time zone "${zone}". Examples: UTC, Europe/Berlin, America/New_York.`, {
      cause: error,
    })
  }
}
