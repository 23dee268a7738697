import { CommandError, exit } from '../base/exit.ts'
import { type Io, isInteractive } from '../base/io.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'

/** Prompts for confirmation unless --yes is set; throws with the message `otherwise` if declined. */
export async function requireConfirmation(question: string, { flags, io, otherwise }: Asking): Promise<void> {
  if (isSet(flags, 'yes')) return
  if (!isInteractive(io) || isSet(flags, 'no-input'))
    throw new CommandError(exit.blocked, 'not_confirmed', `${otherwise} Run this with --yes, or in a terminal.`)
  const { confirmPrompt } = await import('./confirm.ts')
  if (!(await confirmPrompt(question, io))) throw new CommandError(exit.blocked, 'not_confirmed', otherwise)
}

interface Asking {
  readonly flags: Flags
  readonly io: Io
  readonly otherwise: string
}
