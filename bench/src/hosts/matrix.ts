import type { Driver } from './drivers/driver.ts'
import { fullTitle } from './installed.ts'
import { type Exposure, tryWish, wishes } from './lab.ts'
import type { Outcome } from './outcome.ts'
import { inPairs } from './pairs.ts'
import { tableOf } from './table.ts'

/** Result of one host with one exposure. */
export interface Cell {
  readonly host: string
  readonly exposure: Exposure
  readonly outcome: Outcome
}

/** Runs every host with every exposure; the goal is an unlisted tool. */
export function measured(drivers: readonly Driver[], exposures: readonly Exposure[]): Promise<readonly Cell[]> {
  const trials = drivers.flatMap((driver) => exposures.map((exposure) => ({ driver, exposure })))
  return inPairs(trials, async ({ driver, exposure }) => {
    const { outcome } = await tryWish(driver, wishes.read, { exposure })
    console.error(`${fullTitle(driver)}, ${exposure}: ${textOf(outcome)}`)
    return { host: fullTitle(driver), exposure, outcome }
  })
}

/** Renders the matrix as a Markdown table with a row per host and a column per exposure. */
export function matrixOf(cells: readonly Cell[]): string {
  const hosts = [...new Set(cells.map(({ host }) => host))]
  const exposures = [...new Set(cells.map(({ exposure }) => exposure))]
  const cellOf = (host: string, exposure: Exposure): string => {
    const cell = cells.find((each) => each.host === host && each.exposure === exposure)
    return cell === undefined ? '' : textOf(cell.outcome)
  }
  return tableOf([
    ['Host', ...exposures.map((each) => `\`${each}\``)],
    ...hosts.map((host) => [host, ...exposures.map((exposure) => cellOf(host, exposure))]),
  ])
}

function textOf({ reached, informed, failed, turns, bytes }: Outcome): string {
  const size = `${turns} turns, ${Math.round(bytes / 1_000)} kB`
  if (!reached) return `not reached (${size})`
  const remarks = [...(informed ? [] : ['parameters not seen']), ...(failed === 0 ? [] : [`${failed} failed`])]
  return remarks.length === 0 ? size : `${size}, ${remarks.join(', ')}`
}
