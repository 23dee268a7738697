import { EditError, type PlannedEdit, writeEdit } from '@unfold-mcp/client/edit'
import { CommandError, exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { diffLines } from '../edit/diff.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'
import { requireConfirmation } from '../interactive/require-confirmation.ts'
import type { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'
import { createStyle } from '../text/style.ts'
import { maskConfigText } from './masked-text.ts'

export interface ApplyOptions {
  readonly flags: Flags
  readonly io: Io
  readonly output: Output
  /** Confirmation prompt; a function is called after the edit was computed. */
  readonly question?: string | (() => string | undefined | Promise<string | undefined>)
  /** Called after the diff was printed; throws if the edit must not be written. */
  readonly consent?: () => Promise<void>
  /** Called after all confirmations, before the edit is written. */
  readonly confirmed?: () => Promise<void>
}

export interface ApplyResult {
  readonly file: string
  readonly changed: boolean
  readonly backup?: string
}

/** Prints the masked diff of an edit and writes it, after confirmation if required. */
export async function applyEdit(plan: PlannedEdit, options: ApplyOptions): Promise<ApplyResult> {
  const { flags, io, output, question } = options
  const { file, before = '', after } = plan
  if (!plan.isChanged) return { file, changed: false }
  const style = createStyle({ env: io.env, isTerminal: io.stderr.isTTY === true })
  output.note(`${safeText(file)}${plan.before === undefined ? ' (new)' : ''}`)
  const mask = (text: string): string => maskConfigText(file, text)
  for (const line of diffLines(before, after, { style, mask })) output.note(line)
  if (isSet(flags, 'dry-run')) return { file, changed: false }
  await options.consent?.()
  const prompt = typeof question === 'function' ? await question() : question
  if (prompt !== undefined) await requireConfirmation(prompt, { flags, io, otherwise: 'No changes written.' })
  await options.confirmed?.()
  const written = await withEditErrors(writeEdit(plan))
  if (written.backup !== undefined) output.note(`Backup: ${safeText(written.backup)}`)
  return { file: written.file, changed: true, ...(written.backup !== undefined && { backup: written.backup }) }
}

/** Says that nothing was written, and why. */
export const unchangedText = (flags: Flags): string => (isSet(flags, 'dry-run') ? 'Dry run: nothing was written.' : 'No changes.')

/** Converts edit errors to command errors. */
export function withEditErrors<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof EditError)) throw error
    throw new CommandError(exit.failed, 'not_edited', error.message, { cause: error })
  })
}
