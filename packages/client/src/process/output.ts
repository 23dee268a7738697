import { firstErrorLine } from './error-line.ts'
import { damagedNpxFolder } from './npx-folder.ts'
import type { OutputEnds } from './output-ends.ts'

/** Stderr output of a process that helps to find out why it exited or does not respond. */
export interface Output {
  readonly lastLines: readonly string[]
  /** First line that reports an error. */
  readonly firstError?: string
  /** Damaged package folder in the cache of npx. */
  readonly npxFolder?: string
  /** First line of stdout that is not a message, from a process that has sent no message. */
  readonly unexpectedLine?: string
}

export function outputIn({ last, ends }: OutputEnds): Output {
  const firstError = firstErrorLine(ends)
  const npxFolder = damagedNpxFolder(ends)
  return { lastLines: last, ...(firstError !== undefined && { firstError }), ...(npxFolder !== undefined && { npxFolder }) }
}
