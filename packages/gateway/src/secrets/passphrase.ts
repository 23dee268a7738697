import { closeSync, readFileSync } from 'node:fs'
import { errorMessage } from '../base/error-message.ts'
import { SecretError } from './error.ts'
import { readSecretFile } from './secret-file.ts'
import type { Passphrase } from './store.ts'

export interface PassphraseOptions {
  readonly environment: { readonly [name: string]: string | undefined }
  /** Asks the user; missing if nobody can be asked. */
  readonly prompt?: Passphrase | undefined
}

/** Reads the passphrase from `UNFOLD_PASSPHRASE_FD`, `UNFOLD_PASSPHRASE_FILE` or a prompt, in this order. */
export function passphraseFrom({ environment, prompt }: PassphraseOptions): Passphrase {
  let known: Promise<string> | undefined
  // Neither a file descriptor nor a person can be asked twice.
  const once = (read: () => Promise<string>): Promise<string> => {
    known ??= read()
    return known
  }
  return (state) => {
    const { UNFOLD_PASSPHRASE_FD: descriptor, UNFOLD_PASSPHRASE_FILE: file } = environment
    if (descriptor !== undefined) return once(async () => readDescriptor(descriptor))
    if (file !== undefined) return readPassphraseFile(file)
    if (prompt !== undefined) return once(() => prompt(state))
    return Promise.reject(
      new SecretError(
        'The secrets are encrypted with a passphrase. Run this in a terminal, or set UNFOLD_PASSPHRASE_FD or UNFOLD_PASSPHRASE_FILE.',
      ),
    )
  }
}

function readDescriptor(text: string): string {
  const descriptor = Number(text)
  // Standard input, output and error have other uses.
  if (!/^\d{1,6}$/u.test(text) || descriptor < 3)
    throw new SecretError('UNFOLD_PASSPHRASE_FD must be the number of an open file descriptor, 3 or higher.')
  try {
    const passphrase = readFileSync(descriptor, 'utf8').replace(/\r?\n$/u, '')
    closeSync(descriptor)
    return required(passphrase, 'UNFOLD_PASSPHRASE_FD')
  } catch (error) {
    if (error instanceof SecretError) throw error
    throw new SecretError(`UNFOLD_PASSPHRASE_FD ${text} cannot be read: ${errorMessage(error)}. Open it for reading.`)
  }
}

async function readPassphraseFile(file: string): Promise<string> {
  const read = await readSecretFile(file)
  if ('problem' in read) throw new SecretError(`UNFOLD_PASSPHRASE_FILE ${read.problem}`)
  return required(read.value, 'UNFOLD_PASSPHRASE_FILE')
}

function required(passphrase: string, variable: string): string {
  if (passphrase === '') throw new SecretError(`The passphrase in ${variable} is empty.`)
  return passphrase
}
