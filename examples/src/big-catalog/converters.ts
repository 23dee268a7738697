import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { rounded } from './rounding.ts'
import type { Shelf } from './shelves.ts'
import { type Measure, measures, type Unit } from './units.ts'

const inputSchema = z.object({ value: z.number() })

/** One tool for each pair of units of the same quantity. */
export function addConverters(workshop: Toolbox<Shelf>): void {
  for (const [shelf, measure] of Object.entries(measures) as [keyof typeof measures, Measure][]) {
    for (const [from, to] of pairs(measure.units)) {
      const description = `Convert ${measure.what} from ${from.plural} (${from.symbol}) to ${to.plural} (${to.symbol}).`
      workshop.tool(nameOf(from, to), { group: shelf, description, inputSchema, readOnly: true }, ({ value }) => ({
        value: converted(value, from, to),
        unit: to.symbol,
      }))
    }
  }
}

function converted(value: number, from: Unit, to: Unit): number {
  return rounded((value * from.size + (from.zero ?? 0) - (to.zero ?? 0)) / to.size)
}

const nameOf = (from: Unit, to: Unit): string => `${plain(from.plural)}_to_${plain(to.plural)}`

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]+/gu, '_')

function pairs<T>(all: readonly T[]): readonly (readonly [T, T])[] {
  return all.flatMap((one) => all.filter((other) => other !== one).map((other) => [one, other] as const))
}
