import { CommandError, exit } from '../base/exit.ts'
import { type Io, isInteractive } from '../base/io.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'

/** Prompt for the passphrase of stored secrets; undefined if nobody can be prompted. */
export function passphrasePrompt(flags: Flags, io: Io): ((state: 'new' | 'existing') => Promise<string>) | undefined {
  if (!isInteractive(io) || isSet(flags, 'no-input')) return undefined
  return async (state) => {
    const { askSecret } = await import('./secret.ts')
    if (state === 'existing') return askSecret('Passphrase of your stored secrets', io)
    const first = await askSecret('The system keyring is not usable. New passphrase to encrypt your secrets', io)
    if ((await askSecret('Repeat the passphrase', io)) === first) return first
    throw new CommandError(exit.usage, 'usage', 'The passphrases differ. Nothing was stored.')
  }
}
