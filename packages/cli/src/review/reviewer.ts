import { CommandError, exit } from '../base/exit.ts'
import { type Io, isInteractive } from '../base/io.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'

/** Token of a reviewer, for scripts. Not a flag: other users can see the arguments of a process. */
export const reviewerToken = ({ env }: Io): string | undefined => (env.UNFOLD_TOKEN === '' ? undefined : env.UNFOLD_TOKEN)

export const canAsk = (flags: Flags, io: Io): boolean => isInteractive(io) && !isSet(flags, 'no-input')

const otherwise = 'Nothing was decided.'

/**
 * Requires that a person decides: on a terminal, or with the token of a reviewer. Without a token, --yes does not answer the
 * question, so that a program that runs commands cannot.
 */
export async function requirePerson(question: string, flags: Flags, io: Io): Promise<void> {
  const isTrusted = reviewerToken(io) !== undefined
  if (isTrusted && isSet(flags, 'yes')) return
  if (!canAsk(flags, io)) {
    const way = isTrusted
      ? 'Use --yes, or run this in a terminal.'
      : 'Decisions need a person: run this in a terminal, or set UNFOLD_TOKEN to a token with the role reviewer (unfold token add <name> --role reviewer) and use --yes.'
    throw new CommandError(exit.blocked, isTrusted ? 'not_confirmed' : 'needs_person', `${otherwise} ${way}`)
  }
  const { confirmPrompt } = await import('../interactive/confirm.ts')
  if (!(await confirmPrompt(question, io))) throw new CommandError(exit.blocked, 'not_confirmed', otherwise)
}
