import type { Check, Location } from '../check.ts'

interface Limits {
  readonly min: unknown
  readonly max: unknown
  /** What is counted. */
  readonly one: string
  readonly many?: string
  /** Default: `have`. */
  readonly verb?: string
}

/** Checks how many characters, items or properties a value has. */
export function checkCount(
  check: Check,
  at: Location,
  count: number,
  { min, max, one, many = `${one}s`, verb = 'have' }: Limits,
): void {
  const counted = (number: number): string => `${number} ${number === 1 ? one : many}`
  if (typeof min === 'number' && count < min) check.fail(at, `must ${verb} at least ${counted(min)}`)
  if (typeof max === 'number' && count > max) check.fail(at, `must ${verb} at most ${counted(max)}`)
}
