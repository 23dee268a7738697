//#region facts
import { defineToolbox, LiveFacts } from '@unfold-mcp/server'
import { z } from 'zod'

const readings: number[] = []
const alarms: string[] = []
const seen = new LiveFacts({ readings: 0, alarms: 0 })

/** The sensor calls this whenever it likes. */
export function measured(celsius: number): void {
  readings.push(celsius)
  if (celsius > 35) alarms.push(`${celsius} °C`)
  seen.set({ readings: readings.length, alarms: alarms.length })
}
//#endregion

//#region composite
export const greenhouse = defineToolbox({
  name: 'greenhouse',
  version: '1.0.0',
  description: 'Watches a greenhouse.',
  facts: seen,
})

greenhouse.composite(
  'look',
  {
    description: 'Look at the greenhouse',
    after: false,
    by: 'at',
    inputSchema: z.object({ limit: z.int().min(1).default(10) }), // for every mode
    modes: {
      weather: { description: 'The weather outside' },
      readings: {
        description: 'Temperatures, newest first',
        count: ({ facts }) => facts.readings,
        whenEmpty: 'The sensor measures every minute: wait, then look again.',
        inputSchema: z.object({ above: z.number().optional() }), // for this mode alone
      },
      alarms: {
        description: 'When it was too hot',
        count: ({ facts }) => facts.alarms,
      },
    },
  },
  {
    weather: () => 'Sunny.',
    readings: ({ limit, above = -273 }) => ({
      readings: newest(
        limit,
        readings.filter((each) => each > above),
      ),
    }),
    alarms: ({ limit }) => ({ alarms: newest(limit, alarms) }),
  },
)
//#endregion

function newest<T>(limit: number, all: readonly T[]): readonly T[] {
  return all.slice(-limit).reverse()
}

//#region static
greenhouse.composite(
  'report',
  {
    description: 'Report on the greenhouse',
    after: 'look',
    by: 'as',
    policy: 'static',
    modes: {
      plan: { description: 'What grows where' },
      csv: {
        description: 'All temperatures',
        count: ({ facts }) => facts.readings,
        whenEmpty: 'The sensor measures every minute: wait, then ask again.',
      },
    },
  },
  { plan: () => 'Tomatoes on the left.', csv: () => readings.join('\n') },
)
//#endregion

//#region after
greenhouse.tool('water', { description: 'Water the plants', after: 'look' }, () => 'Watered.')
//#endregion

//#region whole
export const guarded = defineToolbox({ name: 'guarded', version: '1.0.0', after: 'look' })
guarded.tool('look', { description: 'Look around' }, () => 'All is well.')
guarded.tool('help', { description: 'Whom to call', after: false }, () => 'Dial 112.')
guarded.tool('open_gate', { description: 'Open the gate' }, () => 'Open.')
//#endregion
