import { CommandError, exit } from '../base/exit.ts'
import { type Io, isInteractive } from '../base/io.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'

export interface ConfirmationOptions {
  readonly flags: Flags
  readonly io: Io
  /** Message of the error if the user declines. */
  readonly otherwise: string
  /** Reason of the error; default: `not_confirmed`. */
  readonly reason?: string
  /** Message of the error if nobody can be prompted. */
  readonly blocked?: string
}

/** Prompts for confirmation unless --yes is set; throws if declined. */
export async function requireConfirmation(
  question: string,
  {
    flags,
    io,
    otherwise,
    reason = 'not_confirmed',
    blocked = `${otherwise} Use --yes, or run this in a terminal.`,
  }: ConfirmationOptions,
): Promise<void> {
  if (isSet(flags, 'yes')) return
  if (!isInteractive(io) || isSet(flags, 'no-input')) throw new CommandError(exit.blocked, reason, blocked)
  const { confirmPrompt } = await import('./confirm.ts')
  if (!(await confirmPrompt(question, io))) throw new CommandError(exit.blocked, reason, otherwise)
}
