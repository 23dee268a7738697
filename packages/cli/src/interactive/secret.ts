import { password } from '@clack/prompts'
import type { Io } from '../base/io.ts'
import { promptTerminal, requireAnswer } from './terminal.ts'

/** Password prompt. The text must be safe for a terminal. */
export async function askSecret(text: string, io: Io): Promise<string> {
  const validate = (given: string | undefined): string | undefined =>
    given === undefined || given.trim() === '' ? 'Required.' : undefined
  return requireAnswer(await password({ message: text, validate, ...promptTerminal(io) })).trim()
}
