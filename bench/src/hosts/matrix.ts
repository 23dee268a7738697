import type { Driver } from './drivers/driver.ts'
import { fullTitle } from './installed.ts'
import { type Exposure, tryWish, wishes } from './lab.ts'
import type { Outcome } from './outcome.ts'

/** One host under one exposure. */
export interface Cell {
  readonly host: string
  readonly exposure: Exposure
  readonly outcome: Outcome
}

// Each host is a large program, and the machines that test us have two cores.
const atOnce = 2

/** Lets every host reach an unlisted tool under every exposure. */
export async function measured(drivers: readonly Driver[], exposures: readonly Exposure[]): Promise<readonly Cell[]> {
  const queue = drivers.flatMap((driver) => exposures.map((exposure) => ({ driver, exposure })))
  const total = queue.length
  const cells: Cell[] = []
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { driver, exposure } = next
      const { outcome } = await tryWish(driver, wishes.read, { exposure })
      cells.push({ host: fullTitle(driver), exposure, outcome })
      console.error(`${fullTitle(driver)}, ${exposure}: ${textOf(outcome)} (${cells.length} of ${total})`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return cells
}

/** The matrix as a Markdown table: hosts down, exposures across. */
export function matrixOf(cells: readonly Cell[]): string {
  const hosts = [...new Set(cells.map(({ host }) => host))].sort()
  const exposures = [...new Set(cells.map(({ exposure }) => exposure))]
  const cellOf = (host: string, exposure: Exposure): string => {
    const cell = cells.find((each) => each.host === host && each.exposure === exposure)
    return cell === undefined ? '' : textOf(cell.outcome)
  }
  const rows = hosts.map((host) => [host, ...exposures.map((exposure) => cellOf(host, exposure))])
  const line = (fields: readonly string[]): string => `| ${fields.join(' | ')} |`
  return [
    line(['Host', ...exposures.map((each) => `\`${each}\``)]),
    line(['Host', ...exposures].map(() => '---')),
    ...rows.map(line),
  ].join('\n')
}

function textOf({ reached, informed, failed, turns, bytes }: Outcome): string {
  const size = `${turns} turns, ${Math.round(bytes / 1_000)} kB`
  if (!reached) return `not reached (${size})`
  const remarks = [...(informed ? [] : ['parameters not seen']), ...(failed === 0 ? [] : [`${failed} failed`])]
  return remarks.length === 0 ? size : `${size}, ${remarks.join(', ')}`
}
