import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface Needs {
  readonly isMissing: boolean
  /** Suffix of a test title that names the missing programs; empty if none is missing. */
  readonly note: string
}

const folders = (process.env.PATH ?? '').split(delimiter)

/** Checks for programs that tests need, for `skipIf`. Warns about missing ones. */
export function needs(...programs: readonly string[]): Needs {
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))))
  if (missing.length === 0) return { isMissing: false, note: '' }
  console.warn(`Skipped: tests that need ${missing.join(' and ')}, which is not installed.`)
  return { isMissing: true, note: ` (skipped: ${missing.join(' and ')} not installed)` }
}
